/** Thrown if the invariants cannot be checked because the database or a chain does not respond. */
export class CouldNotCheckError extends Error {
	override name = "CouldNotCheckError";
	/** The name of the database or chain that does not respond. */
	readonly what: string;

	constructor(what: string, cause: unknown) {
		const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
		super(`${what} could not be read: ${why}`, { cause });
		this.what = what;
	}

	/** Returns the result of `asking`. If it fails, throws an error that names the database or chain. */
	static async unless<T>(what: string, asking: Promise<T>): Promise<T> {
		try {
			return await asking;
		} catch (error) {
			throw new CouldNotCheckError(what, error);
		}
	}
}
