/* The paired-permutation test of one pair, coin by coin. Signs are numpy's (wb-random.js) and sums run as in the library, so the count after
 * all permutations is the library's. A walk adds up the segments' gaps, each with the sign its coin gives; where it ends is one gap of the histogram. */
(function (Whichbird) {
  "use strict";

  const { html, svg, set, write, clamp, round, line, still, tickStep, ticks, figure, button, reading } = Whichbird;
  const [LEFT, TOP, HEIGHT, BOTTOM, BINS] = [40, 20, 210, 34, 44];
  const FRAME = 20; // permutations drawn between two frames

  /** Signs and sums of a pair: x has, for each view, the scores of the two systems. `next()` gives the signs of a permutation, `gap(signs, view)` what it makes of a view. */
  function flipper(x, generator) {
    const random = Whichbird.random(generator.state, generator.inc);
    const N = x[0][0].length;
    const signed = (row, signs) => {
      let sum = 0;
      for (let n = 0; n < N; n++) sum += signs ? row[n] * signs[n] : row[n];
      return sum;
    };
    return {
      N,
      next: () => Int8Array.from({ length: N }, () => (random.bit() ? 1 : -1)),
      gap: (signs, view) => signed(x[view][0], signs) - signed(x[view][1], signs),
      observed: x.map(([i, j]) => signed(i) - signed(j)),
    };
  }

  Object.assign(Whichbird, { flipper });

  figure("flips", (box, { systems, views, scores, generator, permutations }) => {
    const test = flipper(scores, generator);
    const N = test.N;
    const gaps = views.map(() => []);
    const reached = views.map(() => 0);
    let [view, signs, tossed, run, at] = [0, null, 0, 0, null];
    const colour = () => ({ adequacy: "wb-a", fluency: "wb-f" }[views[view]] || "wb-i");
    const node = svg("svg", { role: "img", "aria-label": `Left, the gaps of ${N} segments added up with random signs. Right, the histogram of the sums, and the gap that was observed between ${systems.join(" and ")}.` });
    const text = reading();

    /** A coin for each of the next segments; a full row of them is a permutation, which counts. */
    function toss(coins) {
      if (!signs) [signs, tossed] = [test.next(), 0];
      tossed = Math.min(N, tossed + coins);
      if (tossed < N) return;
      views.forEach((_, v) => {
        const gap = test.gap(signs, v);
        gaps[v].push(gap);
        if (gap >= test.observed[v]) reached[v] += 1;
      });
    }
    const done = () => gaps[0].length;
    const more = () => done() < permutations;
    const fresh = () => { if (signs && tossed === N) signs = null; };
    function stop() {
      cancelAnimationFrame(run);
      run = 0;
    }
    function all() {
      const finish = (count) => {
        for (let n = 0; n < count && more(); n++) {
          fresh();
          toss(N);
        }
        update();
        run = more() ? requestAnimationFrame(() => finish(count)) : 0;
      };
      stop();
      finish(still() ? permutations : FRAME);
    }
    const act = (what) => () => {
      stop();
      if (more() || (signs && tossed < N)) what();
      update();
    };
    const coin = button("Flip one coin", act(() => { fresh(); toss(1); }));
    const one = button("Flip all segments", act(() => { fresh(); toss(N); }));
    const thousand = button(`Do it ${permutations} times`, all);
    const choose = views.map((name, v) => button(name, () => { view = v; update(); }));

    function update() {
      const observed = test.observed[view] / N;
      const [first, second] = scores[view];
      const reach = 1.12 * Math.max(Math.abs(observed), 3.6 * Math.sqrt(first.reduce((sum, v, n) => sum + (v - second[n]) ** 2, 0)) / N);
      const y = (v) => TOP + (HEIGHT * (reach - v)) / (2 * reach);
      const step = tickStep(2 * reach);
      const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const marks = ticks(-reach, reach, step);
      const walk = (sign, to) => {
        let sum = 0;
        const points = [[at.x(0), y(0)]];
        for (let n = 0; n < to; n++) {
          sum += ((first[n] - second[n]) * (sign ? sign[n] : 1)) / N;
          points.push([at.x(n + 1), y(clamp(sum, -reach, reach))]);
        }
        return line(points);
      };
      const wide = (2 * reach) / BINS;
      const bins = new Map();
      gaps[view].forEach((gap) => { // with an edge at the observed gap, on which side of it the count decides
        const place = Math.floor((gap / N - observed) / wide);
        const bin = gap >= test.observed[view] ? Math.max(0, place) : Math.min(-1, place);
        bins.set(bin, (bins.get(bin) || 0) + 1);
      });
      const most = Math.max(12, ...bins.values());
      node.replaceChildren(
        svg("clipPath", { id: "wb-flips-inside" }, svg("rect", { x: 0, y: TOP, width: at.width, height: HEIGHT })),
        ...marks.map((v) => svg("line", { class: "wb-grid", x1: LEFT, x2: at.width, y1: round(y(v)), y2: round(y(v)) })),
        ...marks.map((v) => svg("text", { x: LEFT - 5, y: round(y(v) + 4), "text-anchor": "end" }, v.toFixed(digits).replace("-", "−"))),
        svg("path", { class: "wb-walk wb-was", d: walk(null, N) }),
        svg("path", { class: "wb-walk", d: signs ? walk(signs, tossed) : "" }),
        svg("g", { "clip-path": "url(#wb-flips-inside)" }, [...bins].map(([bin, count]) => svg("rect", { class: `wb-bin ${bin >= 0 ? colour() : ""}`, x: at.split,
          y: round(y(observed + (bin + 1) * wide)), width: round(((at.width - at.split) * count) / most), height: round((wide * HEIGHT) / (2 * reach) - 0.6) }))),
        svg("line", { class: `wb-observed ${colour()}`, x1: LEFT, x2: at.width, y1: round(y(observed)), y2: round(y(observed)) }),
        svg("line", { class: "wb-axis", x1: at.split, x2: at.split, y1: TOP, y2: TOP + HEIGHT }),
        svg("text", { x: LEFT, y: 11 }, `↑ ${systems[0]} better, points`),
        svg("text", { x: LEFT, y: TOP + HEIGHT + 15 }, "segments, one by one →"),
        svg("text", { x: at.width, y: TOP + HEIGHT + 15, "text-anchor": "end" }, "how often →"),
        svg("text", { x: LEFT, y: TOP + HEIGHT + 30 }, `↓ ${systems[1]} better`));
      const [n, hit] = [done(), reached[view]];
      choose.forEach((node, v) => set(node, { "aria-pressed": v === view }));
      [coin, one, thousand].forEach((node) => { node.disabled = !more() && !(signs && tossed < N); });
      set(box, { "data-done": n, "data-reached": reached.join(" "), "data-tossed": signs ? tossed : 0 });
      const tossing = signs && tossed < N ? `Coin ${tossed} of ${N}: ${signs[tossed - 1] > 0 ? "the scores stay" : "the two systems swap their scores"}. ` : "";
      write(text, `${tossing}${n ? `${hit} of ${n} random gaps reach the observed one: p ${more() ? "≈" : "="} ${(hit / n).toFixed(3)}.`
        : `Faint: the ${views[view]} as people rated it. Its end is the observed gap, the thick line.`}`);
    }

    box.append(html("div", { class: "wb-row", role: "group", "aria-label": "Which scores" }, html("span", { class: "wb-group" }, choose)), html("div", { class: "wb-pic" }, node),
      html("div", { class: "wb-row" }, html("span", { class: "wb-group" }, [coin, one, thousand])), html("div", { class: "wb-row" }, text));
    return { draw(width) {
      const w = Math.min(width, 560);
      const split = round(LEFT + 0.6 * (w - LEFT));
      at = { width: w, split: Number(split), x: (n) => LEFT + ((split - 6 - LEFT) * n) / N };
      set(node, { viewBox: `0 0 ${w} ${TOP + HEIGHT + BOTTOM}`, width: w, height: TOP + HEIGHT + BOTTOM });
      update();
    } };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
