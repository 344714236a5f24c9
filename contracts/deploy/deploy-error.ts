/** Why a deployment cannot go on, and what its operator does about it. */
export class DeployError extends Error {
	override name = "DeployError";
	/** What to do next, as an instruction. */
	readonly next: string;

	constructor(message: string, options: { next: string; cause?: unknown }) {
		super(message, { cause: options.cause });
		this.next = options.next;
	}
}
