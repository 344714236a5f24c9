import type { ChainKind } from "@geoswap/protocol";
import { arbitrum } from "./arbitrum.ts";
import { eip1559 } from "./eip1559.ts";
import type { FeeModel } from "./fee-model.ts";
import { opStack } from "./op-stack.ts";

const feeModels: Record<ChainKind, FeeModel> = { eip1559, "op-stack": opStack, arbitrum };

/** Returns the fee model of a deployment. */
export function feeModelOf({ kind }: { kind: ChainKind }): FeeModel {
	return feeModels[kind];
}
