/* Calibration as a quiz: choose one of two translations, twelve times; the page then says what `whichbird.calibrate` says of these choices.
 * The resamples are Python's own draws, and SPA at each target comes with the page. */
(function (Whichbird) {
  "use strict";

  const { html, set, write, figure, button, reading } = Whichbird;
  const SAME = 1e-9; // matches this close are one number, as in Python

  /** Centred and of length one; a constant row becomes zero. */
  function unit(row) {
    const mean = row.reduce((sum, v) => sum + v, 0) / row.length;
    const length = Math.sqrt(row.reduce((sum, v) => sum + (v - mean) ** 2, 0));
    return row.map((v) => (length > SAME ? (v - mean) / length : 0));
  }

  /** The best target: of those that match equally well the one with the largest ESS. */
  function bestOf(match, ess) {
    const top = Math.max(...match) - SAME;
    return match.reduce((best, m, t) => (m >= top && (best < 0 || ess[t] > ess[best]) ? t : best), -1);
  }

  /** What Python's calibrate finds, by correlation, for choices: true where the first translation is preferred. */
  function calibrate(data, firsts) {
    const { betas, ess, natural } = data;
    const pairs = firsts.length;
    const right = data.sides.map((row, n) => [...row].map((side) => (firsts[n] ? Number(side) : 2 - Number(side)) / 2)); // 1, ½ or 0 for each scorer
    const spa = data.spa.map(unit);
    const mean = (counts) => data.scorers.map((_, m) => right.reduce((sum, row, n) => sum + counts[n] * row[m], 0) / pairs);
    const matches = (agreement) => {
      const x = unit(agreement);
      return spa.map((y) => x.reduce((sum, v, m) => sum + v * y[m], 0));
    };
    const agreement = mean(firsts.map(() => 1));
    const match = matches(agreement);
    const at = bestOf(match, ess);
    const answers = data.drawn.map((row) => betas[bestOf(matches(mean([...row].map((c) => parseInt(c, 36)))), ess)]).sort((x, y) => x - y);
    const share = (test) => answers.filter(test).length / answers.length;
    const quantile = (q) => answers[Math.max(0, Math.ceil(q * answers.length - 1e-9) - 1)];
    const home = betas.indexOf(natural);
    return { pairs, beta: betas[at], natural, match: match[at], gain: match[at] - match[home], agreement, interval: [quantile(0.05), quantile(0.95)],
             above: share((b) => b > natural) + share((b) => b === natural) / 2 };
  }

  /** A number rounded to whole ones, halves to the even one, as Python writes it. */
  const whole = (x) => (x - Math.floor(x) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
  const signed = (x) => (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2).replace("-", "−"));

  /** The sentence of Python's `Calibration.verdict`. */
  function verdict(data, { pairs, beta, natural, match, gain, agreement, interval: [first, last], above }) {
    const home = `β₀ = ${natural.toFixed(3)} of ${data.dataset}`;
    const spread = first < last ? `90 % of resamples: ${first.toFixed(3)} to ${last.toFixed(3)}`
      : `at least 90 % of resamples end ${first === beta ? "there too" : `at ${first.toFixed(3)}`}`;
    if (Math.max(...agreement) - Math.min(...agreement) <= SAME) return `These ${pairs} pairs cannot tell: all scorers agree with you equally often. Stay at ${home}.`;
    const unsure = `These ${pairs} pairs cannot tell on which side of ${home} you are`;
    if (beta === natural && first === natural && last === natural) return `${unsure}: that is the best reliable β, and at least 90 % of resamples stay there.`;
    if (beta === natural || (beta > natural ? above : 1 - above) < 0.95) {
      return `${unsure}: ${whole(100 * above)} % of resamples lie above. The best reliable β is ${beta.toFixed(3)} (${spread}).`;
    }
    const [low, high] = data.reliable;
    const out = [`Towards ${beta > natural ? "adequacy" : "fluency"}: β = ${beta.toFixed(3)} (${spread}), correlation ${signed(match)}; at ${home} it is ${signed(match - gain)}.`];
    if (Math.min(beta - low, high - beta) <= (high - low) / 20) out.push("That is an end of the reliable interval: a direction, not a value.");
    if (match <= 0) out.push("Even there the scorers that agree with you are not the favoured ones.");
    return out.join(" ");
  }

  Object.assign(Whichbird, { calibrateQuiz: calibrate, quizVerdict: verdict });

  figure("quiz", (box, data) => {
    const N = data.texts.length;
    const chosen = data.texts.map(() => null);
    const text = reading();
    const [friends, onward] = [html("p", {}), html("a", { hidden: "" }, "See that contest in the explorer")];
    const groups = data.texts.map(({ source, first, second }, n) => html("fieldset", {}, [
      html("legend", {}, [`${n + 1}. `, html("span", { lang: "de" }, source)]),
      ...[first, second].map((words, side) => {
        const input = html("input", { type: "radio", name: `wb-quiz-${n}`, value: side });
        input.addEventListener("change", () => { chosen[n] = side === 0; update(); });
        return html("label", {}, [input, ` ${words}`]);
      })]));
    const form = html("form", {}, groups);
    form.addEventListener("submit", (event) => event.preventDefault());

    function update() {
      const open = chosen.filter((c) => c === null).length;
      onward.hidden = open > 0;
      if (open) {
        write(text, open === N ? `Choose in each of the ${N} pairs.` : `${open} more to choose.`);
        write(friends, "");
        ["beta", "above"].forEach((name) => box.removeAttribute(`data-${name}`));
        return;
      }
      const found = calibrate(data, chosen);
      const order = data.scorers.map((name, m) => [name, found.agreement[m]]).sort((x, y) => y[1] - x[1] || (x[0].toLowerCase() < y[0].toLowerCase() ? -1 : 1));
      const times = (share) => String(Math.round(2 * N * share) / 2);
      write(text, verdict(data, found));
      write(friends, `Most often of your mind: ${order.slice(0, 5).map(([name, share]) => `${name} (${times(share)} of ${N})`).join(", ")}. ` +
        `Least often: ${order.slice(-3).reverse().map(([name, share]) => `${name} (${times(share)})`).join(", ")}.`);
      set(onward, { href: `${data.more}#dataset=${data.dataset}&beta=${found.beta.toFixed(3)}` });
      set(box, { "data-beta": found.beta, "data-above": found.above, "data-match": found.match });
    }
    const again = button("Start again", () => {
      form.reset();
      chosen.fill(null);
      update();
    });
    box.append(html("p", { class: "wb-intro" }, "Your turn: six pairs of each desk. Which one would you print? The more adequate one is not always the first."), form, html("div", { class: "wb-told" }, [text, friends, onward, again]),
      html("p", { class: "wb-hint" }, "The choices of scorers are made up, as told above; what they are worth at each β is real. Nothing you choose leaves this page."));
    update();
    return { draw() {} };
  });
})((globalThis.Whichbird = globalThis.Whichbird || {}));
