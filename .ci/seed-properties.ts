import fc from "fast-check";

// Vitest runs this file before each test file. Without a seed each property would choose its own, so a second run would
// try other values, and would pass although the first ones still fail.
fc.configureGlobal({ seed: Number(process.env.GEOSWAP_SEED) });
