/* What the book's own index (found-index.js, made by book/_ext/found.py) finds, above Sphinx's results, with the words that stand there. A classic script. */
(function () {
  "use strict";
  const GREEK = { α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", η: "eta", θ: "theta", κ: "kappa", λ: "lambda", μ: "mu", ρ: "rho", σ: "sigma", τ: "tau", ω: "omega" };
  const KIND = { term: 30, statement: 18, scorer: 28, name: 2, chapter: 12, section: 6 }; // prose before names of the library
  const SAID = { term: "glossary", statement: "statement", scorer: "scorer", name: "library", chapter: "chapter", section: "section" };
  const MOST = 12;

  const plain = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[α-ω]/g, (c) => GREEK[c] || c);
  const words = (text) => plain(text).match(/[\p{L}\p{N}]+/gu) || [];
  const has = (list, word) => list.some((w) => w === word) ? 2 : list.some((w) => w.startsWith(word)) ? 1 : 0;

  function score(entry, asked, whole) {
    const [kind, title, , text, other] = entry;
    const names = [title, ...other].map((n) => words(n).join(" "));
    if (names.includes(whole)) return 1000 + (kind === "chapter" ? 40 : KIND[kind]); // a page that says it answers this
    const head = words([title, ...other].join(" "));
    const hits = asked.map((word) => has(head, word));
    if (hits.every(Boolean)) return 100 + 10 * hits.reduce((a, b) => a + b) / asked.length + KIND[kind] - Math.min(head.length, 9);
    const body = words(text);
    const found = asked.map((word, n) => hits[n] || has(body, word));
    if (!found.every(Boolean)) return 0;
    return 10 * found.reduce((a, b) => a + b) / asked.length + KIND[kind] / 4;
  }

  function excerpt(text, asked) {
    const lower = [...text].map((c) => plain(c)[0] || " ").join("");
    const spots = asked.map((word) => Math.max(lower.indexOf(word), GREEK_OF[word] ? text.indexOf(GREEK_OF[word]) : -1)).filter((at) => at >= 0);
    const at = spots.length ? Math.min(...spots) : 0;
    const start = at < 120 ? 0 : text.lastIndexOf(" ", at - 80) + 1;
    const end = text.length - start < 240 ? text.length : text.lastIndexOf(" ", start + 240);
    return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
  }
  const GREEK_OF = Object.fromEntries(Object.entries(GREEK).map(([c, n]) => [n, c]));

  function look(query, root) {
    const asked = words(query);
    if (!asked.length) return null;
    const hits = best(query, window.whichbirdIndex);
    const seen = new Set();
    const list = document.createElement("ol");
    list.className = "wb-found";
    for (const { entry: [kind, title, address, text] } of hits) {
      if (list.children.length === MOST) break;
      if (seen.has(`${title} ${address}`)) continue;
      seen.add(`${title} ${address}`);
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + address;
      link.textContent = title;
      const what = document.createElement("span");
      what.className = "wb-found-kind";
      what.textContent = SAID[kind];
      const quoted = document.createElement("p");
      quoted.textContent = excerpt(text, asked);
      item.append(link, " ", what, quoted);
      list.append(item);
    }
    return list.children.length ? list : null;
  }

  function start() {
    const root = document.documentElement.dataset.content_root || "./";
    const query = new URLSearchParams(location.search).get("q") || "";
    const list = look(query, root);
    const place = document.getElementById("search-results");
    if (!list || !place) return;
    const head = document.createElement("h2");
    head.textContent = "Best places";
    const box = document.createElement("section");
    box.className = "wb-found-box";
    box.append(head, list);
    place.before(box);
  }

  /** Entries that answer a query, best first. */
  const best = (query, index) => {
    const asked = words(query), whole = asked.join(" ");
    return index.map((entry, n) => ({ entry, n, score: score(entry, asked, whole) })).filter((h) => h.score > 0)
      .sort((a, b) => b.score - a.score || a.n - b.n);
  };
  globalThis.Whichbird = Object.assign(globalThis.Whichbird || {}, { best });
  if (typeof document === "undefined") return; // in Node, where tests ask for the order alone

  const script = document.createElement("script");
  script.src = `${document.documentElement.dataset.content_root || "./"}_static/found-index.js`;
  script.addEventListener("load", start);
  document.head.append(script);
})();
