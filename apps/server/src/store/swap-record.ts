import type { FailureCode, Order, SwapStage, SwapStatus, SwapUuid } from "@geoswap/protocol";
import type { Address, Hex } from "viem";

/** How the output leaves the vault. Fixed at submit, and once more where the order is opened late. */
export type Delivery =
	/** Exactly this much of the output token, from stock. */
	| { kind: "stock"; amount: bigint }
	/** Whatever this much of the settlement token buys on these pools (fee tiers: one, or two). */
	| { kind: "router"; budget: bigint; fees: number[] };

/** The op as the wallet signed it: with the order, everything that a relayer needs to send it. */
export type SignedOp = {
	delegate: Address;
	allowance: bigint;
	gas: { verificationGasLimit: bigint; callGasLimit: bigint };
	/** 65 bytes, low s, v 27 or 28. */
	signature: Hex;
	/** Absent where the wallet was delegated when the op was built. */
	authorization?: SignedAuthorization;
};

export type SignedAuthorization = {
	chainId: number;
	address: Address;
	nonce: number;
	yParity: number;
	r: Hex;
	s: Hex;
};

/** A row of `swaps`. */
export type SwapRecord = {
	id: SwapUuid;
	accountId: string | undefined;
	orderId: Hex;
	order: Order;
	output: bigint;
	valueUsdCents: bigint;
	/** As quoted, in hundredths of a basis point. */
	feeCentibps: number;
	delivery: Delivery;
	op: SignedOp | undefined;
	status: SwapStatus;
	stage: SwapStage;
	failure: { code: FailureCode; message: string } | undefined;
	givingUp: FailureCode | undefined;
	originTxHash: Hex | undefined;
	deliveryTxHash: Hex | undefined;
	refundTxHash: Hex | undefined;
	deliveredAmount: bigint | undefined;
	createdAt: Date;
	updatedAt: Date;
	endedAt: Date | undefined;
};
