import type {
	Amount,
	FailureCode,
	Order,
	SignatureKind,
	SolanaAddress,
	SwapStage,
	SwapStatus,
	SwapUuid,
	UsdCents,
	Wei,
} from "@geoswap/protocol";
import type { Address, Hex } from "viem";

/**
 * How the output leaves the vault. Fixed at submit, and again if the order is opened late. The lane that signs the fill
 * may lower it to what the input is worth then.
 */
export type Delivery =
	/** Exactly this much of the output token, from inventory. */
	| { kind: "inventory"; amount: Amount }
	/** The output that this much of the settlement token buys on these pools (fee tiers: one, or two). */
	| { kind: "router"; budget: Amount; fees: number[] }
	/**
	 * On Solana: this much of the output token from inventory. `unusedRent` is added if the recipient has a token
	 * account, because its rent was charged in case the service must create it.
	 */
	| { kind: "payout"; amount: Amount; unusedRent: Wei };

/** The op as the wallet signed it. Together with the order, it is everything that a relayer needs to send it. */
export type SignedOp = {
	/** The delegate that the wallet had, or will have by the authorization, when the op was built. */
	delegate: Address;
	/** The maximum of gas that opening the order may use, since the wallet runs its own code. */
	gas: bigint;
	signatureKind: SignatureKind;
	/** 65 bytes, low s, v 27 or 28: the wallet's, or that of the mandate's agent. */
	signature: Hex;
	/** The mandate within which an agent signed: its digest, and with its owner's signature as the account reads it. */
	mandate?: { digest: Hex; encoded: Hex };
	/** Absent if the wallet was already delegated when the op was built. */
	authorization?: SignedAuthorization;
};

/**
 * A Solana wallet's op, the message that the service built and the wallet signed. One such message per swap is ever
 * co-signed.
 */
export type SignedSolanaOp = {
	kind: "solana";
	feePayer: SolanaAddress;
	blockhash: string;
	/** The last height at which it can land. */
	lastValidBlockHeight: bigint;
	compute: { unitLimit: number; microLamportsPerUnit: bigint };
	/** The wallet's signature, 64 bytes. */
	signature: Hex;
};

type SignedAuthorization = {
	chainId: number;
	address: Address;
	nonce: number;
	yParity: number;
	r: Hex;
	s: Hex;
};

/** The token is the destination's settlement token, in the internal form of that chain. */
export type NetworkCost = { token: Hex; amount: Amount };

/** A row of `swaps`. */
export type SwapRecord = {
	id: SwapUuid;
	accountId: string | undefined;
	orderId: Hex;
	order: Order;
	output: Amount;
	valueUsdCents: UsdCents;
	/** The quoted fee, in thousandths of a basis point. */
	feeMillibps: number;
	/** What inventory added to the price, in hundredths of a basis point. */
	skewCentibps: number;
	/** The charge for the swap's transactions, as quoted. Undefined in older rows, and in rebuilt ones. */
	networkCost: NetworkCost | undefined;
	delivery: Delivery;
	op: SignedOp | SignedSolanaOp | undefined;
	status: SwapStatus;
	stage: SwapStage;
	failure: { code: FailureCode; message: string } | undefined;
	givingUp: FailureCode | undefined;
	originTxHash: Hex | undefined;
	deliveryTxHash: Hex | undefined;
	refundTxHash: Hex | undefined;
	deliveredAmount: Amount | undefined;
	createdAt: Date;
	updatedAt: Date;
	/**
	 * The times at which a round found the deposit and the delivery on chain, and the status became terminal; if recorded.
	 */
	openedAt: Date | undefined;
	deliveredAt: Date | undefined;
	decidedAt: Date | undefined;
	/** The time at which nothing was left to do. */
	endedAt: Date | undefined;
	/** A W3C traceparent; undefined if the swap is not traced. */
	trace: string | undefined;
};

/** A stage, or a status that ends them. */
export type Move = SwapStage | Exclude<SwapStatus, "pending">;

/** Facts from the chains to write to a swap's row. Null clears a value that is no longer true. */
export type Notes = {
	originTxHash?: Hex | null;
	deliveryTxHash?: Hex | null;
	refundTxHash?: Hex | null;
	deliveredAmount?: Amount | null;
};
