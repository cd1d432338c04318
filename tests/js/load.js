/* The scripts of the live figures, loaded as a page loads them: in order, into one object. */
"use strict";

const path = require("node:path");

const ASSETS = path.join(__dirname, "..", "..", "book", "assets");

module.exports = function load(...names) {
  names.forEach((name) => require(path.join(ASSETS, `${name}.js`)));
  return globalThis.Whichbird;
};
