import { hexOfSignature } from "@geoswap/keys/hex-of-signature";
import type { EvmSigner } from "@geoswap/keys/signer";
import {
	type AttestationKind,
	attestationMessage,
	type ChainDeployment,
	type Heartbeat,
	isSolana,
	type Milliseconds,
	type Order,
	orderId,
	ourContracts,
	type SolanaDeployment,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import { readBlock } from "../chain/evm/read/read-block.ts";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { findProgramProblem } from "../chain/solana/program/read-vault.ts";
import { readSlots } from "../chain/solana/read/read-slots.ts";
import type { Log } from "../telemetry/log.ts";
import type { AttesterConfig } from "./attester-config.ts";
import {
	checkOutcomes,
	checkSolanaOutcomes,
	type OutcomeRefusal,
	type SolanaOutcomeRefusal,
} from "./check-outcomes.ts";
import type { CodeWatch } from "./create-code-watch.ts";

export type Refusal = {
	orderId: Hex;
	reason:
		| TermsRefusal
		| OutcomeRefusal
		| SolanaOutcomeRefusal
		/** The destination does not answer this attester. It still signs for other chains. */
		| "chain_unavailable"
		/** A contract or program of the origin or the destination differs from the published code, or has other owners. */
		| "code_differs"
		/** Its contracts or program could not be compared with the published code yet. */
		| "code_unchecked";
};

/** An attester, which signs what it has itself read from the chains. */
export type Attester = {
	attest: (question: Omit<Question, "nowMs" | "log">) => Promise<{ refused: Refusal[] } | { signature: Hex }>;
	heartbeats: () => Promise<(Heartbeat & { signature: Hex })[]>;
};

/** Creates an attester. It signs what it has itself read at finality, keeps no state and trusts no other process. */
export function createAttester({
	config,
	codeStateOf,
	signer,
	nowMs,
	log,
}: {
	config: Pick<AttesterConfig, "chains" | "solana" | "earlierAttesterSets">;
	codeStateOf: CodeWatch["stateOf"];
	signer: EvmSigner;
	nowMs: () => Milliseconds;
	log: Log;
}): Attester {
	return {
		/** Signs for orders of one escrow. */
		attest: async ({ kind, orders }) => {
			const refused = await refusals({ ...config, codeStateOf }, { kind, orders, nowMs: nowMs(), log });
			if (refused.length > 0) return { refused };
			const message = attestationMessage(kind, orders);
			const signature = hexOfSignature(await signer.sign({ kind: "attestation", message }));
			log.info({ kind, chainId: message.originChainId, orderIds: message.orderIds }, "signed");
			return { signature };
		},
		heartbeats: async () => {
			const signedAtUnixSeconds = Math.floor(nowMs() / 1_000);
			const { solana } = config;
			const sights = [
				// A heartbeat states that this attester would sign. The service fills nothing that its attesters would not
				// release.
				...config.chains
					.filter(({ chainId }) => codeStateOf(chainId) === "checked")
					.map(async (chain) => {
						const { number: finalizedNumber } = await readBlock(chain, "finalized");
						return { chainId: chain.chainId, finalizedNumber };
					}),
				...(solana ? [seeSolana(solana)] : []),
			];
			const beats = await Promise.allSettled(
				sights.map(async (seeing) => {
					const beat = { ...(await seeing), signedAtUnixSeconds };
					const signature = await signer.sign({ kind: "heartbeat", message: beat });
					return { ...beat, signature: hexOfSignature(signature) };
				}),
			);
			// A chain that this attester cannot read is one that it cannot sign for.
			return beats.flatMap((beat) => (beat.status === "fulfilled" ? [beat.value] : []));
		},
	};
}

type Question = {
	kind: AttestationKind;
	orders: readonly Order[];
	nowMs: Milliseconds;
	log: Log;
};

/** Reads Solana's newest final slot. Throws if nothing would be signed for the program there. */
async function seeSolana(solana: SolanaChain): Promise<{ chainId: number; finalizedNumber: number }> {
	const problem = await findProgramProblem(solana);
	if (problem) throw new Error(problem);
	const { finalized } = await readSlots(solana);
	return { chainId: solana.chainId, finalizedNumber: finalized.slot };
}

/** Returns why the contracts that an order relies on keep an attester from signing. */
function codeRefusal(
	codeStateOf: CodeWatch["stateOf"],
	{ originChainId, destinationChainId }: Order,
): Refusal["reason"] | undefined {
	const states = [originChainId, destinationChainId]
		.filter((chainId) => !isSolana(chainId))
		.map((chainId) => codeStateOf(Number(chainId)));
	if (states.includes("differs")) return "code_differs";
	return states.includes("unchecked") ? "code_unchecked" : undefined;
}

/** Returns why the program on Solana keeps an attester from signing. */
async function programRefusal(
	solana: SolanaChain,
	{ log }: { log: Log },
): Promise<Refusal["reason"] | undefined> {
	const { chainId } = solana;
	try {
		const problem = await findProgramProblem(solana);
		if (!problem) return undefined;
		log.error({ chainId, problem }, "the deployed program is not the published one; nothing is signed");
		return "code_differs";
	} catch (error) {
		log.warn({ err: error, chainId }, "the deployed program cannot be read");
		return "code_unchecked";
	}
}

/** Returns all orders that cannot be signed for, and why, so that the caller can request the rest. */
async function refusals(
	{
		codeStateOf,
		...config
	}: Pick<AttesterConfig, "chains" | "solana" | "earlierAttesterSets"> & {
		codeStateOf: CodeWatch["stateOf"];
	},
	{ kind, orders, nowMs, log }: Question,
): Promise<Refusal[]> {
	const reasons = new Map<Order, Refusal["reason"] | undefined>(
		orders.map((order) => [
			order,
			checkTerms(config, { kind, order, nowMs }) ?? codeRefusal(codeStateOf, order),
		]),
	);
	const { solana } = config;
	const isOnSolana = ({ originChainId, destinationChainId }: Order) =>
		isSolana(originChainId) || isSolana(destinationChainId);
	const destinations = [
		...config.chains.map((chain) => ({
			chainId: chain.chainId,
			check: (there: readonly Order[]) => checkOutcomes(chain, { kind, orders: there }),
		})),
		...(solana
			? [
					{
						chainId: solana.chainId,
						check: (there: readonly Order[]) => checkSolanaOutcomes(solana, { kind, orders: there }),
					},
				]
			: []),
	];
	await Promise.all(
		destinations.map(async ({ chainId, check }) => {
			const there = orders.filter(
				(order) => order.destinationChainId === BigInt(chainId) && !reasons.get(order),
			);
			if (there.length === 0) return;
			try {
				const outcomes: (Refusal["reason"] | undefined)[] = await check(there);
				for (const [i, order] of there.entries()) reasons.set(order, outcomes[i]);
			} catch (error) {
				log.warn({ err: error, chainId }, "a chain does not answer");
				for (const order of there) reasons.set(order, "chain_unavailable");
			}
		}),
	);
	const concerned = orders.filter((order) => isOnSolana(order) && !reasons.get(order));
	if (solana && concerned.length > 0) {
		// Checked before each signature, since the program may be replaced at any time; and after its records were read, so
		// that the code that wrote them is not newer than the one that is compared.
		const refusal = await programRefusal(solana, { log });
		for (const order of concerned) reasons.set(order, refusal);
	}
	return orders.flatMap((order): Refusal[] => {
		const reason = reasons.get(order);
		return reason ? [{ orderId: orderId(order), reason }] : [];
	});
}

/** Reasons not to sign for an order, regardless of its state on the chains. */
type TermsRefusal =
	| "unknown_chain"
	| "unknown_escrow"
	| "unknown_vault"
	| "unknown_attester_set"
	| "unknown_asset"
	/**
	 * On one chain delivery and release are one call, and on Solana the vault's operator refunds, so no attester decides.
	 */
	| "same_chain"
	/** No escrow opens an order with such times, or none opens it yet. */
	| "invalid_deadlines";

/** The escrow's `MAX_REFUND_DELAY`: how far ahead `refundAfter` may be when an order is opened. */
const maxRefundDelaySeconds = 3 * 24 * 3_600;

/** The words of orders that an attester knows on a chain. */
type Known = { escrows: Hex[]; vaults: Hex[]; assets: Hex[]; attesterSet: Hex };

/**
 * Returns a refusal for contracts and assets that are not in the attester's own configuration, and for refunds of
 * orders from the future.
 */
function checkTerms(
	{ chains, solana, earlierAttesterSets }: Pick<AttesterConfig, "chains" | "solana" | "earlierAttesterSets">,
	{ kind, order, nowMs }: { kind: AttestationKind; order: Order; nowMs: Milliseconds },
): TermsRefusal | undefined {
	const onSolana = solana?.deployment;
	const knownOf = (chainId: bigint): Known | undefined => {
		if (isSolana(chainId)) return onSolana && knownOnSolana(onSolana);
		const deployment = chains.find((chain) => BigInt(chain.chainId) === chainId)?.deployment;
		return deployment && knownOn(deployment);
	};
	const [origin, destination] = [knownOf(order.originChainId), knownOf(order.destinationChainId)];
	if (!origin || !destination) return "unknown_chain";
	if (order.deadlines >> 192n !== 0n) return "invalid_deadlines";
	// No escrow opens an order whose `refundAfter` is later than this, so there is nothing to refund yet.
	const latest = BigInt(Math.floor(nowMs / 1_000) + maxRefundDelaySeconds);
	if (kind === "Refund" && unpackDeadlines(order.deadlines).refundAfter > latest) return "invalid_deadlines";
	const isOnOneChain = order.originChainId === order.destinationChainId;
	if (isOnOneChain && (kind === "Release" || isSolana(order.originChainId))) return "same_chain";
	if (!origin.escrows.includes(order.escrow)) return "unknown_escrow";
	if (!origin.vaults.includes(order.originVault)) return "unknown_vault";
	if (!destination.vaults.includes(order.destinationVault)) return "unknown_vault";
	if (![origin.attesterSet, ...earlierAttesterSets].includes(order.attesterSet)) {
		return "unknown_attester_set";
	}
	const hasAssets =
		origin.assets.includes(order.inputToken) && destination.assets.includes(order.outputToken);
	return hasAssets ? undefined : "unknown_asset";
}

function knownOn(deployment: ChainDeployment): Known {
	const { escrows, vaults } = ourContracts(deployment);
	return {
		escrows: escrows.map(toWord),
		vaults: vaults.map(toWord),
		assets: deployment.assets.map((asset) => toWord(asset.address)),
		attesterSet: deployment.attesterSet.hash,
	};
}

function knownOnSolana({ program, assets }: SolanaDeployment): Known {
	return {
		escrows: [toSolanaWord(program.address)],
		vaults: [toSolanaWord(program.vault)],
		assets: assets.map((asset) => toSolanaWord(asset.address)),
		attesterSet: program.attesterSet.hash,
	};
}
