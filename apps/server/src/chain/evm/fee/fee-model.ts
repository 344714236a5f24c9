import type { Wei } from "@geoswap/protocol";
import type { Address, Hex, RpcTransactionReceipt } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import type { View } from "../read/call-multicall.ts";

/** A transaction as far as its cost depends on it. */
export type TransactionShape = {
	/** Gas that it uses on the chain itself. */
	gas: bigint;
	/** The size of its signed bytes as OP-stack chains count it, compressed with FastLZ. */
	fastLzBytes: number;
	/** The size of its signed bytes as Arbitrum counts it, compressed with Brotli. */
	brotliBytes: number;
};

/** Fees of the chain below a rollup, as of one block. All are zero on a chain that has none below it. */
export type L1Rates = {
	/** Price of one of the model's units of data, in millionths of a millionth of a wei. */
	picoWeiPerDataUnit: bigint;
	/** The operator fee of OP-stack chains: for each million units of gas, and for each transaction. */
	operatorWeiPerMillionGas: Wei;
	operatorWei: Wei;
};

/** Fees of a chain as of one block, from which the cost of a transaction follows. */
export type FeeRates = {
	/** Wei per unit of gas, which the chain itself takes. */
	baseFee: Wei;
	/** Wei per unit of gas that our transactions offer above it. */
	tip: Wei;
	l1: L1Rates;
};

/** The rules by which one kind of chain charges for transactions. */
export type FeeModel = {
	/** The calls that read the L1 rates. They are made together with the calls for prices. */
	views: readonly View[];
	/** Decodes the answers to `views`, each as its words; none if the call failed. Throws if the rates are unknown. */
	l1Rates: (answers: readonly (readonly bigint[])[]) => L1Rates;
	/** Returns what a transaction will cost its sender at these rates, rounded up. */
	cost: (rates: FeeRates, transaction: TransactionShape) => Wei;
	/**
	 * Returns what a sender must hold so that the chain takes a transaction with this gas limit. That is its maximum
	 * cost, at the highest fee that it offers.
	 */
	mustHold: (rates: FeeRates, transaction: TransactionShape) => Wei;
	/** Reads a generous estimate of the gas that a transaction needs beside what its simulation used. */
	readExtraGas: (chain: EvmChain, call: { to: Address; data: Hex }) => Promise<bigint>;
	/** Returns what a transaction did cost its sender. */
	paid: (receipt: RpcTransactionReceipt) => Wei;
};
