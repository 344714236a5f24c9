/** An error that ends a deployment, with the operator's next step. */
export class DeployError extends Error {
	override name = "DeployError";
	/** The operator's next step, as an instruction. */
	readonly next: string;

	constructor(message: string, options: { next: string; cause?: unknown }) {
		super(message, { cause: options.cause });
		this.next = options.next;
	}
}
