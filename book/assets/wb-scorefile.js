/* Score files of one's own, read in the page by the rules of the command line, with its sentences of refusal.
 *
 * `Whichbird.scorefile.read(name, bytes, source)` → {scorers: {name: K rows of N scores}, notes: [sentence, …]}, or it throws a
 * `Refusal`. `source` is what the page knows of a dataset: name, systems, lines (the rated source lines, from 0),
 * source_lines, scorers. The forms are those of `whichbird.data.userfiles.read_scorers`: lines "system, tab, score", the n-th
 * of a system belonging to its n-th segment; or a table with a header, system, segment and a column per scorer, or
 * scorer, system, segment, score. Compared with Python file by file in the tests. */
(function install(Whichbird) {
  "use strict";

  const py = Whichbird.python;
  const LARGEST = 1e100; // sums of squares of larger scores would overflow
  const CONSTANT = 1e-12; // system means that spread less than this, relative to their size, are one number and its rounding
  const FIELD = 131072; // the longest cell that Python's csv takes

  class Refusal extends Error {}
  const refuse = (sentence) => { throw new Refusal(sentence); };

  const isHuman = (system) =>
    /^(?:synthetic_ref|ref[a-z]|(?:[Rr][Ee][Ff]|[Hh][Uu][Mm][Aa][Nn])(?:[A-Z\d]|[-._][A-Za-z\d])?(?:\.\d)?)$/.test(system);

  /** Where UTF-8 stops being UTF-8: the first byte of the first bad sequence, or −1. */
  function badByte(bytes) {
    for (let n = 0; n < bytes.length; ) {
      const b = bytes[n];
      if (b < 0x80) { n++; continue; }
      const more = b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : 0;
      const low = { 0xe0: 0xa0, 0xf0: 0x90 }[b] || 0x80, high = { 0xed: 0x9f, 0xf4: 0x8f }[b] || 0xbf;
      const good = more && bytes[n + 1] >= low && bytes[n + 1] <= high &&
        [...bytes.slice(n + 2, n + 1 + more)].every((c) => c >= 0x80 && c < 0xc0) && n + more < bytes.length;
      if (!good) return n;
      n += 1 + more;
    }
    return -1;
  }

  const lineAt = (bytes, end) => {
    let lines = 1;
    for (let n = 0; n < end; n++) if (bytes[n] === 10) lines++;
    return lines;
  };

  /** The text of a UTF-8 file, its CRLF and byte-order mark removed: `files.read_text`. */
  function readText(name, bytes) {
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const rest = marked ? bytes.subarray(3) : bytes;
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(rest);
    } catch {
      const at = badByte(rest);
      refuse(`${name}: line ${lineAt(bytes, at)}: byte ${at} is not UTF-8 text; save the file as UTF-8`);
    }
    if (!py.strip(text)) refuse(`${name}: the file is empty`);
    const zero = text.indexOf("\0");
    if (zero >= 0) {
      refuse(`${name}: line ${text.slice(0, zero).split("\n").length} has a zero byte, so it is not UTF-8 text; save the file as UTF-8`);
    }
    return text.replaceAll("\r\n", "\n");
  }

  const firstLine = (text) => text.replace(/^\n+/, "").split("\n", 1)[0];
  const times = (text, c) => text.split(c).length - 1;
  function delimiter(text) {
    const line = firstLine(text);
    return line.includes("\t") ? "\t" : times(line, ";") > times(line, ",") ? ";" : ",";
  }
  const header = (text) =>
    new Set(firstLine(text).split(delimiter(text)).map((cell) => cell.replace(/^[ "]+|[ "]+$/g, "").toLowerCase()));

  /** The finite number that a text spells, or a refusal; null for "None" where a score may lack. `place` is asked for a refusal only. */
  function number(text, place, mayLack = false) {
    if (mayLack && text === "None") return null;
    const value = py.float(text);
    if (!Number.isFinite(value)) refuse(`${place()} has ${py.short(text)}; a finite number is expected`);
    if (Math.abs(value) > LARGEST) refuse(`${place()} has ${py.short(text)}; a score between -1e100 and 1e100 is expected`);
    return value;
  }

  /** Rows of a table as Python's csv module reads them in its strict mode: [line at which the row starts, cells]. */
  function* csvRows(text, comma, name) {
    const lines = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) || [];
    let start = 1, cells = [], cell = "", state = "row";
    const wrong = (error) => refuse(`${name}: line ${start} is no row of a table: ${error}`);
    const add = (c) => {
      if (cell.length >= FIELD) wrong(`field larger than field limit (${FIELD})`);
      cell += c;
    };
    const save = (next) => { cells.push(cell); cell = ""; state = next; };
    for (let n = 0; n < lines.length; n++) {
      for (const c of lines[n]) {
        const ends = c === "\n" || c === "\r";
        if (state === "eat") {
          if (!ends) wrong("new-line character seen in unquoted field - do you need to open the file with newline=''?");
        } else if (state === "quoted") {
          if (c === '"') state = "quote"; else add(c);
        } else if (state === "quote") {
          if (c === '"') { add(c); state = "quoted"; }
          else if (c === comma) save("field");
          else if (ends) save("eat");
          else wrong(`'${comma}' expected after '"'`);
        } else if (ends) {
          if (state === "row") state = "eat"; else save("eat");
        } else if (c === comma) save("field");
        else if (c === '"' && state !== "cell") state = "quoted";
        else { add(c); state = "cell"; }
      }
      if (state === "quoted") continue; // a cell in quotes goes on in the next line
      if (state !== "eat" && state !== "row") save("row");
      yield [start, cells];
      [start, cells, state] = [n + 2, [], "row"];
    }
    if (state === "quoted") wrong("unexpected end of data");
  }

  /** A cell as it was before a quote was put in front of it, so that no spreadsheet runs it: `sheet.unguarded`. */
  const guarded = (text) =>
    /^'*[=+\-@]/.test(text) && !/^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text) ? `'${text}` : text;
  const unguarded = (text) => (text[0] === "'" && guarded(text.slice(1)) === text ? text.slice(1) : text);

  /** A table whose header names at least the columns `need`: `sheet.read_sheet`. */
  function readSheet(name, text, need, may) {
    let columns = null;
    const rows = [];
    for (const [line, raw] of csvRows(text, delimiter(text), name)) {
      const cells = raw.map((cell) => unguarded(py.strip(cell)));
      if (!cells.some(Boolean)) continue;
      if (!columns) columns = columnNames(`${name}: line ${line}`, cells, need, may);
      else {
        if (cells.length !== columns.length) refuse(`${name}: line ${line} has ${cells.length} columns where the header has ${columns.length}`);
        rows.push([line, new Map(columns.map((column, n) => [column, cells[n]]))]);
      }
    }
    if (!rows.length) refuse(`${name}: no row follows the header`);
    return { name, columns, rows };
  }

  function columnNames(place, row, need, may) {
    const known = [...need, ...may];
    const columns = row.map((cell) => (known.includes(cell.toLowerCase()) ? cell.toLowerCase() : cell));
    for (const column of need) {
      if (!columns.includes(column)) refuse(`${place} has no column '${column}'; the header must name ${need.join(", ")}`);
    }
    columns.forEach((column, n) => {
      if (!column) refuse(`${place}, column ${n + 1} has no name; every column needs one`);
      if (columns.indexOf(column) !== columns.lastIndexOf(column)) {
        refuse(`${place}, column ${n + 1}: the name ${py.short(column)} is there twice; names must differ`);
      }
    });
    return columns;
  }

  const place = (sheet, line, column) => `${sheet.name}: line ${line}, column ${sheet.columns.indexOf(column) + 1} (${column})`;
  function named(sheet, line, cells, column) {
    if (!cells.get(column)) refuse(`${place(sheet, line, column)} is empty; a name is expected`);
    return cells.get(column);
  }

  /** Every rated system must be among those found; what else is there is left out, and said. */
  function checkSystems(name, found, source, notes) {
    const there = new Set(found), rated = new Set(source.systems);
    const missing = source.systems.filter((s) => !there.has(s));
    const extra = [...there].filter((s) => !rated.has(s) && !isHuman(s));
    if (missing.length) {
      refuse(`${name}: system ${py.repr(missing[0])} is missing; all ${source.systems.length} rated systems of ` +
        `${source.name} are needed${py.near(missing[0], extra, "is it called")}`);
    }
    if (extra.length) {
      const few = extra.slice(0, 3).map(py.short).join(", ") + (extra.length > 3 ? ", …" : "");
      notes.push(`${name}: left out, as nobody rated ${extra.length === 1 ? "it" : "them"}: ${few}`);
    }
  }

  function fieldScorer(name, text, source, notes) {
    const rows = new Map();
    const lines = text.split("\n");
    while (!py.strip(lines.at(-1))) lines.pop();
    lines.forEach((row, n) => {
      const fields = row.split("\t");
      if (fields.length !== 2) {
        refuse(`${name}: line ${n + 1} has ${fields.length} ${fields.length === 1 ? "column" : "columns"}; system, tab, score is expected`);
      }
      if (!rows.has(fields[0])) rows.set(fields[0], []);
      rows.get(fields[0]).push([n + 1, fields[1]]);
    });
    checkSystems(name, rows.keys(), source, notes);
    const rated = source.lines.length, every = source.source_lines;
    return source.systems.map((system) => {
      const cells = rows.get(system), count = cells.length;
      if ((count !== rated && count !== every) || count !== rows.get(source.systems[0]).length) {
        const wanted = rated === every ? `${rated} are` : `${every} (all source lines) or ${rated} (the rated ones) in all are`;
        refuse(`${name}: line ${cells.at(-1)[0]}: system ${py.repr(system)} ends after ${count} lines; ${wanted} expected`);
      }
      const values = cells.map(([line, text]) => number(text, () => `${name}: line ${line}, column 2`, true));
      const chosen = count === rated ? values.keys() : source.lines;
      return Array.from(chosen, (at) => {
        if (values[at] === null) {
          refuse(`${name}: line ${cells[at][0]}, column 2: ${py.repr(system)} has no score on a rated segment; one is needed`);
        }
        return values[at];
      });
    });
  }

  function tableScorers(name, text, source, stem, notes) {
    const sheet = readSheet(name, text, ["system", "segment"], ["scorer", "score"]);
    const long = sheet.columns.includes("scorer");
    const columns = long ? ["score"] : sheet.columns.filter((c) => c !== "system" && c !== "segment");
    if ((long && !sheet.columns.includes("score")) || !columns.length) {
      refuse(`${name}: line 1 has no column of scores; system, segment and one column per scorer, or scorer, system, segment, score are expected`);
    }
    for (const column of long ? ["system", "segment", "scorer"] : ["system", "segment"]) {
      for (const [line, cells] of sheet.rows) named(sheet, line, cells, column);
    }
    checkSystems(name, sheet.rows.map(([, cells]) => cells.get("system")), source, notes);
    const rowOf = new Map(source.systems.map((s, k) => [s, k]));
    const names = source.lines.map((line) => String(line + 1));
    const columnOf = new Map(names.map((s, n) => [s, n]));
    const known = (segment) => /^[1-9]\d*$/.test(segment) && Number(segment) <= source.source_lines;
    const found = new Map(), seen = new Map();
    const kept = sheet.rows.filter(([, cells]) => rowOf.has(cells.get("system")));
    for (const [line, cells] of kept) {
      const segment = cells.get("segment");
      if (!known(segment)) {
        refuse(`${place(sheet, line, "segment")} has ${py.short(segment)}; a source line, 1 to ${source.source_lines}, is expected ` +
          "(--ignore-extra leaves others out)");
      }
    }
    const called = (cells, column) => (long ? cells.get("scorer") : columns.length === 1 && column === "score" ? stem : column);
    for (const [line, cells] of kept) {
      const system = cells.get("system"), segment = cells.get("segment"), scorer = called(cells, columns[0]);
      const key = JSON.stringify([scorer, system, segment]);
      if (seen.has(key)) {
        refuse(`${name}: line ${line} repeats the score of ${long ? py.repr(scorer) : py.short(scorer)} for ${py.repr(system)} on segment ` +
          `${py.repr(segment)}, which line ${seen.get(key)} has already`);
      }
      seen.set(key, line);
    }
    if (!kept.some(([, cells]) => columnOf.has(cells.get("segment")))) {
      refuse(`${name}: no rated segment is there; the first one is ${py.repr(names[0])}`);
    }
    for (const column of columns) {
      const grids = new Map();
      for (const [line, cells] of kept) {
        const value = number(cells.get(column), () => place(sheet, line, column)), scorer = called(cells, column);
        if (!columnOf.has(cells.get("segment"))) continue;
        if (!grids.has(scorer)) grids.set(scorer, source.systems.map(() => new Array(names.length).fill(NaN)));
        grids.get(scorer)[rowOf.get(cells.get("system"))][columnOf.get(cells.get("segment"))] = value;
      }
      for (const [scorer, grid] of grids) {
        grid.forEach((row, k) => {
          const n = row.findIndex(Number.isNaN);
          if (n >= 0) {
            refuse(`${name}: ${py.repr(scorer)} has no score for ${py.repr(source.systems[k])} on segment ${py.repr(names[n])}; ` +
              "every system needs one on every rated segment");
          }
        });
        found.set(scorer, grid);
      }
    }
    return found;
  }

  /** A scorer whose system means are one number and its rounding ranks nothing. */
  function refuseConstant(name, scorer, x) {
    const means = x.map((row) => row.reduce((sum, v) => sum + v, 0) / row.length);
    const largest = x.reduce((most, row) => row.reduce((m, v) => Math.max(m, Math.abs(v)), most), 0);
    if (Math.max(...means) - Math.min(...means) <= CONSTANT * largest) {
      refuse(`${name}: scorer ${py.repr(scorer)} is constant: every system has the mean score ${py.general(means[0])}; it cannot tell them apart`);
    }
  }

  function read(name, bytes, source) {
    const text = readText(name, bytes), words = header(text), notes = [];
    const stem = name.replace(/(\.seg\.score|\.csv|\.tsv|\.txt)$/, "") || name;
    const table = /\.csv$/i.test(name) || (words.has("system") && words.has("segment"));
    const found = table ? tableScorers(name, text, source, stem, notes) : new Map([[stem, fieldScorer(name, text, source, notes)]]);
    for (const [scorer, x] of found) {
      refuseConstant(name, scorer, x);
      if (source.scorers.includes(scorer)) refuse(`${source.name} has a scorer ${py.repr(scorer)} already; give yours another name`);
    }
    return { scorers: Object.fromEntries(found), notes };
  }

  Whichbird.scorefile = { read, readText, csvRows, isHuman, Refusal };
  (Whichbird.installs = Whichbird.installs || {}).scorefile = install; // a worker is made from the text of its modules
})((globalThis.Whichbird = globalThis.Whichbird || {}));
