/* Small tools of the live figures: nodes, texts, scales. Classic scripts without a bundler: each file adds what it has to the one
 * object Whichbird, may use what the files before it added, and runs in Node too, where the unit tests load it with require.
 * `SCRIPTS` in lib/whichbird_book/explorer.py is their order in a page. */
(function (Whichbird) {
  "use strict";

  function make(space, tag, attributes, children) {
    const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...[].concat(children === undefined ? [] : children));
    return node;
  }
  const html = (tag, attributes, children) => make("", tag, attributes, children);
  const svg = (tag, attributes, children) => make("http://www.w3.org/2000/svg", tag, attributes, children);
  const set = (node, attributes) => { // writing what is there already would cost a style
    for (const name in attributes) {
      const value = String(attributes[name]);
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
  };
  const titled = (title, text) => [html("b", {}, title), text];
  const write = (node, text) => { // writing an equal text would cost a layout
    if (node.textContent !== String(text)) node.textContent = text;
  };
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  const round = (x) => x.toFixed(1);
  const line = (points) => "M" + points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
  /** Long names keep their beginning and their end, which is where they differ. */
  const brief = (name) => (name.length > 25 ? `${name.slice(0, 9)}…${name.slice(-14)}` : name);
  /** What people read for a scorer; links, files and tests know it by the release's name. */
  const named = (page, m) => (page.names || {})[page.scorers[m]] || page.scorers[m];
  const places = (n) => `${n} place${n === 1 ? "" : "s"}`;
  const scorers = (n) => `${n} scorer${n === 1 ? "" : "s"}`;

  /** β with three decimals, or four where three would not name the stop. */
  const show = (beta) => (Math.abs(beta * 1000 - Math.round(beta * 1000)) < 1e-6 ? beta.toFixed(3) : beta.toFixed(4));
  /** What goes with the ratings as the natural balance of endless text, 95 %. */
  const sure = (page) => `${page.beta0_low.toFixed(3)} to ${page.beta0_high.toFixed(3)}`;

  /** Whether the reader asked for less motion. */
  const still = () => typeof matchMedia !== "undefined" && matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** A round step that cuts `span` into about two to six parts. */
  function tickStep(span) {
    const unit = 10 ** Math.floor(Math.log10(span / 2.4));
    return unit * [5, 2, 1].find((m) => span / (m * unit) >= 2.4);
  }

  function ticks(low, high, step) {
    const out = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) out.push(n * step + 0); // + 0: no −0
    return out;
  }

  /** Weighted mean and standard deviation. */
  function moments(x, w) {
    const total = w.reduce((sum, v) => sum + v, 0);
    const mean = x.reduce((sum, v, k) => sum + w[k] * v, 0) / total;
    return [mean, Math.sqrt(x.reduce((sum, v, k) => sum + w[k] * (v - mean) ** 2, 0) / total)];
  }

  Object.assign(Whichbird, { html, svg, set, titled, write, clamp, round, line, brief, named, places, scorers, show, sure, still,
                             tickStep, ticks, moments });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
