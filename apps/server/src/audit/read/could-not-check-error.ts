/** Whether the invariants hold is not known: something that has to be asked does not answer. */
export class CouldNotCheckError extends Error {
	override name = "CouldNotCheckError";
	/** Who does not: the database, or a chain. */
	readonly what: string;

	constructor(what: string, cause: unknown) {
		const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
		super(`${what} cannot be asked: ${why}`, { cause });
		this.what = what;
	}

	/** What comes of asking, or an error that names whom. */
	static async unless<T>(what: string, asking: Promise<T>): Promise<T> {
		try {
			return await asking;
		} catch (error) {
			throw new CouldNotCheckError(what, error);
		}
	}
}
