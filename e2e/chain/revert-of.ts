import { type Abi, BaseError, type DecodeErrorResultReturnType, decodeErrorResult, type Hex } from "viem";

/** Returns the error with which a call or a send reverted. Throws if it did not. */
export async function revertOf<const abi extends Abi>(
	abi: abi,
	sending: Promise<unknown>,
): Promise<DecodeErrorResultReturnType<abi>> {
	const error = await sending.then(
		() => undefined,
		(thrown: unknown) => thrown,
	);
	const data = error instanceof BaseError ? revertData(error) : undefined;
	if (data === undefined) throw new Error("nothing was reverted", { cause: error });
	return decodeErrorResult({ abi, data });
}

function revertData(error: BaseError): Hex | undefined {
	const cause = error.walk((inner) => typeof (inner as { data?: unknown }).data === "string");
	return (cause as { data?: Hex } | null)?.data;
}
