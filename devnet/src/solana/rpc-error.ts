/** An answer that is an error, with the code a cluster gives it. */
export class RpcError extends Error {
	override name = "RpcError";
	readonly code: number;
	readonly data: unknown;

	constructor(code: number, message: string, data?: unknown) {
		super(message);
		this.code = code;
		this.data = data;
	}
}

export function invalidParams(message: string): RpcError {
	return new RpcError(-32602, message);
}
