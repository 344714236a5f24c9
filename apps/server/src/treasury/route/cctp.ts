import type { Amount, Milliseconds } from "@geoswap/protocol";
import { type Address, type Hash, type Hex, isAddressEqual } from "viem";
import { type CctpBurn, checkMessage, finalizedThreshold } from "../../chain/evm/cctp/decode-message.ts";
import type { Attested, IrisAnswer } from "../../chain/evm/cctp/read-attestation.ts";
import type { BurnSight } from "../../chain/evm/cctp/read-burn.ts";
import type { CctpMint, MintRefusal } from "../../chain/evm/cctp/read-mint.ts";

/**
 * The state of a move by CCTP. `sent`: burned, and not attested. `minting`: a mint of ours is in flight. `arrived`: the
 * vault has the tokens. `stuck`: later than `maxLateness` times the usual time, but still looked at.
 */
export type CctpState = "queued" | "sent" | "attested" | "minting" | "arrived" | "final" | "stuck" | "failed";

/** A bridge move, as its row has it. */
export type CctpMove = {
	state: CctpState;
	burn: CctpBurn;
	/** The token that is minted. */
	mintToken: Address;
	/** How long the route usually takes from the burn to the attestation. */
	usualMs: { fast: Milliseconds; standard: Milliseconds };
	/** The last attestation that a step had. It may have expired since. */
	attested?: Attested;
	/** When a new attestation was last requested. */
	reattestedAtMs?: Milliseconds;
};

/** What the chains, Iris and the rows show of a move at one time. */
export type CctpFacts = {
	nowMs: Milliseconds;
	/** Undefined if the burn is in no block. */
	burn: BurnSight | undefined;
	/** Undefined if Iris was not read at this time. */
	iris?: IrisAnswer;
	/** Whether a mint of ours is signed and has neither landed nor expired. */
	isMintInFlight: boolean;
	/** Whether another move has the nonce of this one's message. */
	isNonceOfAnother: boolean;
	isNonceUsed: boolean;
	mint?: CctpMint & { isFinal: boolean };
	/** Why the mint of this message was refused in a simulation. */
	refusal?: MintRefusal & { message: Hex };
};

/** What to do next about a move, and its state from now on. */
export type CctpStep = { state: CctpState } & (
	| { kind: "wait"; for: string; forMs?: Milliseconds }
	| { kind: "read attestation" }
	| ({ kind: "send mint"; nonce: Hex } & Attested)
	| { kind: "reattest"; nonce: Hex }
	| ({ kind: "arrived"; nonce: Hex; received: Amount; fee: Amount; attested: Attested } & MintPlace)
	| ({ kind: "final" } & MintPlace)
	/** Pages. The route starts nothing new until no move of it is stuck. */
	| { kind: "stuck"; because: string }
	| { kind: "failed"; error: "burn reverted" | "wrong message" | "wrong mint"; problem: string }
);

type MintPlace = { transactionHash: Hash; blockNumber: number };
type Burned = Extract<BurnSight, { status: "burned" }>;

/** A move is stuck once it has taken this many times the usual time. */
export const maxLateness = 3;
/** After this many times the usual time, a new attestation is requested of a burn that still has none. */
const lostLateness = 2;

/**
 * Decides the next step of a move from the facts alone, so that a process killed at any point decides the same when it
 * looks again. A mint counts as the arrival whoever sent it; a second one would revert.
 */
export function nextCctpStep(move: CctpMove, facts: CctpFacts): CctpStep {
	const { state } = move;
	if (state === "final" || state === "failed") return { kind: "wait", state, for: "nothing" };
	// The lane sends the burn, and sends it again if a reorg dropped it.
	if (!facts.burn) return { kind: "wait", state: "queued", for: "the burn" };
	if (facts.burn.status === "reverted") {
		return fail("burn reverted", "its transaction moved nothing");
	}
	const step = afterBurn(move, facts, facts.burn);
	if (step.state === "failed" || step.state === "arrived" || step.state === "final") return step;
	if (state === "stuck") return { ...step, state: "stuck" };
	// A step that makes progress comes first. What remains late waits soon after it.
	if (step.kind === "wait" && isLaterThan(maxLateness, move, facts, facts.burn.atMs)) {
		return { kind: "stuck", state: "stuck", because: step.for };
	}
	return step;
}

/** Decides about a burn that is in a block. */
function afterBurn(move: CctpMove, facts: CctpFacts, burn: Burned): CctpStep {
	const { mint } = facts;
	const attested = newestAttested(move, facts);
	if (!attested) return towardsAttestation(move, facts, burn);
	const checked = checkMessage(attested.message, move.burn);
	if ("problem" in checked) return fail("wrong message", checked.problem);
	const { nonce } = checked.message;
	if (facts.isNonceOfAnother) return fail("wrong message", `its nonce ${nonce} is another move's`);
	const { message, attestation } = attested;
	if (mint) return afterMint(move, burn, { mint, nonce, attested: { message, attestation } });
	return towardsMint(move, facts, { nonce, message, attestation });
}

/** Decides once the vault should have its tokens. */
function afterMint(
	{ state, burn, mintToken }: CctpMove,
	{ isFinal }: Burned,
	{ mint, ...found }: { mint: CctpMint & { isFinal: boolean }; nonce: Hex; attested: Attested },
): CctpStep {
	const { amount, fee, transactionHash, blockNumber } = mint;
	const place = { transactionHash, blockNumber };
	if (!isAddressEqual(mint.recipient, burn.recipient) || !isAddressEqual(mint.token, mintToken)) {
		return fail("wrong mint", `${transactionHash} minted ${mint.token} to ${mint.recipient}`);
	}
	if (amount + fee !== burn.amount || fee > burn.maxFee) {
		return fail("wrong mint", `${transactionHash} minted ${amount} for a fee of ${fee}`);
	}
	if (state !== "arrived") {
		return { kind: "arrived", state: "arrived", ...place, ...found, received: amount, fee };
	}
	// A fast mint may be final before its burn is.
	if (mint.isFinal && isFinal) return { kind: "final", state: "final", ...place };
	return { kind: "wait", state, for: mint.isFinal ? "the burn to be final" : "the mint to be final" };
}

/** Decides about an attested burn whose mint is in no block. */
function towardsMint(
	move: CctpMove,
	facts: CctpFacts,
	{ nonce, message, attestation }: { nonce: Hex } & Attested,
): CctpStep {
	const { iris, refusal } = facts;
	if (facts.isMintInFlight) return { kind: "wait", state: "minting", for: "the mint" };
	if (facts.isNonceUsed) return { kind: "wait", state: "attested", for: "the event of the mint" };
	if (refusal?.message === message) {
		// Iris may have another attestation by now.
		if (!iris) return { kind: "read attestation", state: "attested" };
		if (refusal.kind === "expired") return reattest(move, facts, { nonce, state: "attested" });
		const reason = refusal.kind === "used" ? "its nonce is used" : refusal.reason;
		return { kind: "wait", state: "attested", for: `a mint that is not refused: ${reason}` };
	}
	return { kind: "send mint", state: "attested", nonce, message, attestation };
}

/** Decides about a burn of which no attestation was read. */
function towardsAttestation(move: CctpMove, facts: CctpFacts, { atMs }: Burned): CctpStep {
	const { iris } = facts;
	const state = "sent";
	if (!iris) return { kind: "read attestation", state };
	if (iris.status === "limited") {
		return { kind: "wait", state, for: "Iris, which had too many requests", forMs: iris.retryAfterMs };
	}
	if (iris.status === "pending") {
		const { nonce, delayReason } = iris;
		const isLost = isLaterThan(lostLateness, move, facts, atMs);
		// Circle signs only fast burns anew.
		if (isLost && nonce && isFast(move.burn)) return reattest(move, facts, { nonce, state });
		const why = delayReason ? `, delayed by ${delayReason}` : "";
		return { kind: "wait", state, for: `the attestation${why}` };
	}
	const reason =
		iris.status === "unreadable"
			? `Iris, whose answer is unreadable: ${iris.reason}`
			: "Iris to see the burn";
	return { kind: "wait", state, for: reason };
}

/** Requests a new attestation, and then gives Circle the usual time to make it. */
function reattest(
	{ reattestedAtMs, usualMs }: CctpMove,
	{ nowMs }: CctpFacts,
	{ nonce, state }: { nonce: Hex; state: CctpState },
): CctpStep {
	if (reattestedAtMs !== undefined && nowMs < reattestedAtMs + usualMs.standard) {
		return { kind: "wait", state, for: "a new attestation" };
	}
	return { kind: "reattest", state, nonce };
}

/** Returns whether a move has taken this many times the usual time of what Circle does about it now. */
function isLaterThan(times: number, move: CctpMove, facts: CctpFacts, atMs: Milliseconds): boolean {
	const { fast, standard } = move.usualMs;
	return facts.nowMs > atMs + times * (isAttestedAsStandard(move, facts) ? standard : fast);
}

/** Returns whether the burn takes as long as a standard one, as do fast burns that are delayed or attested anew. */
function isAttestedAsStandard(move: CctpMove, facts: CctpFacts): boolean {
	const { iris } = facts;
	if (!isFast(move.burn) || move.reattestedAtMs !== undefined) return true;
	if (iris?.status === "pending" && iris.delayReason !== undefined) return true;
	const attested = newestAttested(move, facts);
	const checked = attested && checkMessage(attested.message, move.burn);
	return !!checked && "message" in checked && checked.message.finalityThresholdExecuted >= finalizedThreshold;
}

/** Returns the attestation that Iris has now, or else the one in the row, which it replaces. */
function newestAttested({ attested }: CctpMove, { iris }: CctpFacts): Attested | undefined {
	return iris?.status === "complete" ? iris : attested;
}

function isFast({ minFinalityThreshold }: CctpBurn): boolean {
	return minFinalityThreshold < finalizedThreshold;
}

function fail(error: "burn reverted" | "wrong message" | "wrong mint", problem: string): CctpStep {
	return { kind: "failed", state: "failed", error, problem };
}
