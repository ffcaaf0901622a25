// What JupyterLab loads first: a container in the form of module federation, written by hand. `init` gets the table of
// packages that the running application shares, `get` gives the plugins. Everything else is plain modules beside this
// file, which are imported when they are asked for; nothing is bundled.
(() => {
  const script = /** @type {HTMLScriptElement} */ (document.currentScript);
  const here = new URL(".", script.src);
  /** @type {any} */
  let packages;

  /**
   * One of the application's own packages, e.g. "@codemirror/view". Of several versions the one that is in use, else the
   * newest: all shared packages that are used here exist once in a page.
   * @param {string} name
   */
  async function shared(name) {
    const versions = Object.entries(/** @type {Record<string, any>} */ (packages?.[name] ?? {}));
    versions.sort(([a, one], [b, other]) => Number(Boolean(other.loaded)) - Number(Boolean(one.loaded))
      || b.localeCompare(a, undefined, { numeric: true }));
    if (!versions.length) throw new Error(`gpulab-editor: this application does not share ${name}`);
    return (await versions[0][1].get())();
  }

  const page = /** @type {any} */ (globalThis);
  page._JUPYTERLAB ??= {};
  page._JUPYTERLAB["gpulab-editor"] = {
    /** @param {any} given */
    init(given) { packages = given; },
    async get() {
      const { plugins } = await import(new URL("plugins.js", here).href);
      const found = await plugins(shared);
      return () => ({ __esModule: true, default: found });
    },
  };
})();
