import type { Amount, UsdE18, Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Ladder } from "../chain/evm/read/read-block-prices.ts";
import type { MoveKey } from "./move-id.ts";
import type { SettlementHolding } from "./need.ts";

/** All that a plan depends on. The process that builds it reads everything; a plan reads nothing. */
export type TreasuryState = {
	/** Minutes since 1970. */
	minute: number;
	chains: readonly ChainState[];
	routes: readonly RouteState[];
	/**
	 * How many moves of each key the chain has carried out, and whether one is open. A move that failed or was cancelled
	 * does not count, because no event shows it after a restore; the next move then has the same id, and only one of the
	 * two can land. A key without moves may be left out.
	 */
	history: readonly (MoveKey & { moves: number; isOpen: boolean })[];
	/** Value of all that left a vault for another chain and has not arrived, late and stuck moves included. */
	inTransitE18: UsdE18;
};

export type ChainState = {
	chainId: number;
	name: string;
	/**
	 * A chain whose balances, prices or events could not be read is `unreadable`: its amounts are the last known. One with
	 * a move that is in no row is `unexplained`.
	 */
	status: "open" | "paused" | "unreadable" | "unexplained";
	vault: Hex;
	/** Counted at par: 10^decimals units are one dollar. */
	settlement: TokenState & SettlementHolding;
	/** All other tokens of the vault, the native one included. */
	assets: readonly AssetState[];
	relayers: readonly RelayerState[];
	/** Value of the gas of a trade, and of a send. */
	tradeGasE18: UsdE18;
	sendGasE18: UsdE18;
};

type TokenState = {
	token: Hex;
	symbol: string;
	decimals: number;
	/** What the vault's cap lets a trade of this token take now. */
	tradeCapLeft: Amount;
};

export type AssetState = TokenState & {
	isNative: boolean;
	usdE18: UsdE18;
	free: Amount;
	/** Upper end of its band: 0 if the token is not kept. */
	maxHeld: Amount;
	volatilityPercentPerYear: number;
	/** From the asset to the settlement token, and back. */
	sell: readonly Ladder[];
	buy: readonly Ladder[];
};

export type RelayerState = {
	address: Hex;
	balance: Wei;
	/** The 95th percentile of what it spends on gas in an hour. */
	spentPerHour: Wei;
	/** What the vault's cap lets a send to it take now. */
	sendCapLeft: Wei;
};

/** A way from one chain's settlement token to another's. */
export type RouteState = {
	name: string;
	/** A person carries out the moves of a manual route. */
	kind: "bridge" | "manual";
	chainId: number;
	toChainId: number;
	/** A route with a move that is far too late is `stuck`. */
	status: "open" | "paused" | "stuck" | "unreadable";
	/** What the vault's cap, and the route's own limit, let through now. */
	capLeft: Amount;
	/** Value of the gas of both transactions. */
	gasE18: UsdE18;
	standard: RouteSpeed;
	/** Undefined if the route has one speed. */
	fast?: RouteSpeed;
};

export type RouteSpeed = { seconds: number; feeCentibps: number };
