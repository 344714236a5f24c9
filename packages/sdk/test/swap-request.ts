import { solanaSigner } from "../src/solana-signer.ts";
import type { SwapRequest } from "../src/swap-request.ts";
import type { SubmitPath } from "./model-service.ts";
import * as evm from "./op-fixture.ts";
import * as solana from "./solana-op-fixture.ts";

export type Origin = "evm" | "solana";
export const origins = ["evm", "solana"] as const satisfies Origin[];

export const submitPaths = {
	evm: "/swap/submit",
	solana: "/swap/submit-solana",
} as const satisfies Record<Origin, SubmitPath>;
export const buildPaths = { evm: "/swap/build-geo-op", solana: "/swap/build-solana-tx" } as const;

/** Returns the fixtures' intent as a request for `swap()`. */
export async function makeSwapRequest(
	origin: Origin,
	changes: Partial<SwapRequest> = {},
): Promise<SwapRequest> {
	const intent = origin === "evm" ? evm.makeIntent() : solana.makeIntent();
	const { inputToken, outputToken, recipient, slippageBps } = intent;
	return {
		originChain: Number(intent.originChain),
		destinationChain: Number(intent.destinationChain),
		inputToken,
		outputToken,
		amount: BigInt(intent.amount),
		...(recipient !== undefined && { recipient }),
		...(slippageBps !== undefined && { slippageBps }),
		signer: origin === "evm" ? evm.account : await solanaSigner(solana.signer),
		pins: solana.makePins(),
		...changes,
	} as SwapRequest;
}

/** Returns the wallet of the fixtures' intent. */
export const walletOf = (origin: Origin): string =>
	origin === "evm" ? evm.account.address : solana.signer.address;
