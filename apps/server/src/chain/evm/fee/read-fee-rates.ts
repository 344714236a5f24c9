import type { Wei } from "@geoswap/protocol";
import type { EvmChain } from "../connect-chain.ts";
import { callViews, wordsOf } from "../read/call-views.ts";
import type { FeeRates } from "./fee-model.ts";
import { feeModelOf } from "./fee-model-of.ts";

/** Reads the fees of a chain's newest block, for transactions that offer this tip. */
export async function readFeeRates(chain: EvmChain, { tip }: { tip: Wei }): Promise<FeeRates> {
	const { views, l1Rates } = feeModelOf(chain.deployment);
	const { number: blockNumber, baseFeePerGas } = await chain.client.getBlock();
	const results = await callViews(chain, { views, blockNumber });
	return { baseFee: baseFeePerGas ?? 0n, tip, l1: l1Rates(results.map(wordsOf)) };
}
