// Loaded before all other modules. Replaces their sources with those of the planted bug that the environment names.
import { registerHooks } from "node:module";
import { treasuryBugs } from "../treasury/treasury-bugs.ts";
import { plantIn, sourceUrl } from "./plant-in.ts";
import { plantedBugs } from "./planted-bugs.ts";

const name = process.env.GEOSWAP_PLANTED_BUG;
const bug = [...plantedBugs, ...treasuryBugs].find((candidate) => candidate.name === name);
if (!bug) throw new Error(`there is no planted bug ${name}`);

const missing = new Set(bug.edits.map(({ file }) => sourceUrl(file)));
registerHooks({
	load(url, context, nextLoad) {
		const loaded = nextLoad(url, context);
		const edits = bug.edits.filter(({ file }) => sourceUrl(file) === url);
		if (edits.length === 0) return loaded;
		missing.delete(url);
		return { ...loaded, source: plantIn(String(loaded.source), edits) };
	},
});

// A bug in a file that is never loaded is not planted.
process.once("message", () => {
	if (missing.size > 0)
		throw new Error(`files with planted bugs were never loaded: ${[...missing].join(", ")}`);
});
