import type { Milliseconds } from "@geoswap/protocol";
import type { Address, Hash } from "viem";
import type { BlockPrices, Rung } from "../../chain/evm/read/read-block-prices.ts";
import type { PythPrice } from "./pyth-prices.ts";
import type { Direction } from "./quoter-ladders.ts";

/** New prices of one source: a chain's block, Pyth, or the quoter of Solana. */
export type PriceNews =
	| { kind: "prices"; prices: BlockPrices }
	| { kind: "pyth"; answers: ReadonlyMap<Hash, PythPrice> }
	| { kind: "quoter"; asset: Address; direction: Direction; rungs: Rung[]; askedAtMs: Milliseconds };
