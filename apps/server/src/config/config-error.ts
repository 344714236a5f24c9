/** A mistake of whoever runs this, in words that say what to mend. */
export class ConfigError extends Error {
	override name = "ConfigError";

	constructor(path: string, problem: string) {
		super(`${path}: ${problem}`);
	}
}
