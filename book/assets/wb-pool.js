/* Your pool: what a reader changed in a dataset's pool, and the address that says so. Plain values; nothing here touches the page.
 *
 * An edit is { out: names left out, moved: Map of name to [adequacy, fluency], added: [[adequacy, fluency], …] }. It is never changed, only
 * replaced. Names of added systems are numbers of ours, so an address brings no text into the page. */
(function (Whichbird) {
  "use strict";

  const MOST = 40; // systems in a pool: what the solver is made and tested for
  const LONG = 8000; // characters of an address; ours are far shorter
  const WHOLE = Object.freeze({ out: [], moved: new Map(), added: [] });
  const label = (n) => `invented ${n + 1}`;

  const isWhole = (edit) => !edit.out.length && !edit.moved.size && !edit.added.length;

  /** All systems, also those left out: name, a, f; k, its place in the data (null if invented); real: it is where it was rated. */
  function roster(page, edit) {
    const { out, moved, added } = edit || WHOLE;
    const shipped = page.systems.map((name, k) => {
      const at = moved.get(name);
      return { name, k, a: at ? at[0] : page.adequacy[k], f: at ? at[1] : page.fluency[k], out: out.includes(name),
               real: !at, invented: false, from: at ? [page.adequacy[k], page.fluency[k]] : null };
    });
    return shipped.concat(added.map(([a, f], n) =>
      ({ name: label(n), k: null, a, f, out: false, real: false, invented: true, from: null })));
  }

  /** Leave a system out, or bring it back; an invented one goes for good. */
  function toggled(edit, name) {
    const n = edit.added.findIndex((_, place) => label(place) === name);
    if (n >= 0) return { ...edit, added: edit.added.filter((_, place) => place !== n) };
    return { ...edit, out: edit.out.includes(name) ? edit.out.filter((o) => o !== name) : [...edit.out, name] };
  }

  /** Put a system somewhere else. */
  function movedTo(edit, name, a, f) {
    const at = [+a.toFixed(4), +f.toFixed(4)]; // as the address writes it
    const n = edit.added.findIndex((_, place) => label(place) === name);
    if (n >= 0) return { ...edit, added: edit.added.map((old, place) => (place === n ? at : old)) };
    return { ...edit, moved: new Map(edit.moved).set(name, at) };
  }

  const addedTo = (edit, a, f) => ({ ...edit, added: [...edit.added, [+a.toFixed(4), +f.toFixed(4)]] });

  /** The square that the plane shows: [least, most adequacy, least, most fluency], one scale, room around the systems. */
  function frame(page) {
    const ends = [page.adequacy, page.fluency].map((x) => [Math.min(...x), Math.max(...x)]);
    const half = 0.62 * Math.max(...ends.map(([low, high]) => high - low));
    return ends.flatMap(([low, high]) => [(low + high) / 2 - half, (low + high) / 2 + half]);
  }

  /** What a sentence says of the pool. */
  function described(page, edit) {
    const parts = [];
    const some = (n, what) => { if (n) parts.push(`${n} ${what}`); };
    some(edit.out.length, "left out");
    some([...edit.moved.keys()].filter((name) => !edit.out.includes(name)).length, "moved");
    some(edit.added.length, "invented");
    return parts.join(", ");
  }

  // --- the address ---------------------------------------------------------------------------------------------------

  const list = (names) => names.map(encodeURIComponent).join(",");
  const number = (x) => String(+x.toFixed(6));

  /** What is shown, as a fragment. */
  function address({ dataset, beta, follow = [], edit = WHOLE, whole = false }) {
    const parts = [`dataset=${encodeURIComponent(dataset)}`, `beta=${number(beta)}`];
    if (whole) parts.push("range=whole");
    if (follow.length) parts.push(`follow=${list(follow)}`);
    if (edit.out.length) parts.push(`out=${list(edit.out)}`);
    if (edit.moved.size) {
      parts.push(`move=${[...edit.moved].map(([name, at]) => [encodeURIComponent(name), ...at].join(":")).join(",")}`);
    }
    if (edit.added.length) parts.push(`add=${edit.added.map((at) => at.join(":")).join(",")}`);
    return `#${parts.join("&")}`;
  }

  /** What a fragment (or a query) asks for, as far as it makes sense for one of these datasets; null if it names none. Whatever does
   *  not is passed over: unknown names, places outside the plane, numbers that are none, too much of anything. */
  function asked(text, pages) {
    if (text.length > LONG) return null;
    const said = new Map();
    for (const part of text.replace(/^[#?]/, "").split("&")) {
      const [, key, value] = /^(\w+)=(.*)$/.exec(part) || [];
      if (key && !said.has(key)) said.set(key, value);
    }
    const plain = (raw) => {
      try { return decodeURIComponent(raw); } catch (broken) { return ""; }
    };
    const items = (key) => (said.get(key) || "").split(",").filter(Boolean);
    const page = pages.find((p) => p.name === plain(said.get("dataset") || ""));
    if (!page) return null;
    const known = (names, among) => [...new Set(names.map(plain))].filter((name) => among.includes(name));
    const value = (raw) => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(raw || "") ? +raw : NaN);
    const [left, right, bottom, top] = frame(page);
    const place = (raw) => {
      const at = raw.length === 2 ? raw.map(value) : [];
      return at[0] >= left && at[0] <= right && at[1] >= bottom && at[1] <= top ? at : null;
    };
    const moved = new Map();
    for (const item of items("move")) {
      const [name, ...at] = item.split(":");
      if (page.systems.includes(plain(name)) && place(at)) moved.set(plain(name), place(at));
    }
    const added = items("add").map((item) => place(item.split(":"))).filter(Boolean).slice(0, MOST - page.systems.length);
    const beta = value(said.get("beta"));
    return { dataset: page.name, beta: beta >= 0 && beta <= 1 ? beta : null, follow: known(items("follow"), page.scorers),
             edit: { out: known(items("out"), page.systems), moved, added }, whole: said.get("range") === "whole" };
  }

  Object.assign(Whichbird, { MOST, WHOLE, isWhole, roster, toggled, movedTo, addedTo, frame, described, address, asked });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
