/** A mistake of the operator. The message states what to fix. */
export class ConfigError extends Error {
	override name = "ConfigError";

	constructor(path: string, problem: string) {
		super(`${path}: ${problem}`);
	}
}
