import { unpackDeadlines } from "@geoswap/protocol";
import type { Decided } from "../../round/plan-changes.ts";
import { needsAgreement } from "../../swap/decide/agreement.ts";
import { depthBlocks, isFinal } from "../../swap/decide/depth.ts";
import { type PolicyConfig, swapPolicy } from "../../swap/decide/swap-policy.ts";
import { swapView } from "../../swap/decide/swap-view.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";

/** Describes the facts that a decision depends on, one sentence a line. */
export function describeFacts(
	{ swap, facts, wait }: Decided,
	{ config, nowMs }: { config: PolicyConfig; nowMs: number },
): string[] {
	const policy = facts && swapPolicy(config, swap.order);
	if (!policy) return [];
	const view = swapView(facts, policy, nowMs);
	const { origin, destination } = facts;
	const headOf = (name: string) => (name === "Filled" || name === "Voided" ? destination : origin);
	const needed = depthBlocks(view, origin);
	const { openDeadline, fillDeadline, refundAfter } = unpackDeadlines(swap.order.deadlines);
	const fromNow = (seconds: number | bigint) => {
		const time = new Date(Number(seconds) * 1_000);
		return time.getTime() < nowMs ? secondsAgo(time, nowMs) : secondsUntil(time, nowMs);
	};
	return [
		...[...new Map([origin, destination].map((head) => [head.chainId, head])).values()].map((head) =>
			describeHead(head, nowMs),
		),
		...Object.values(facts.events).map(
			(event) => `${event.name} is ${describeDepth(event, headOf(event.name))}`,
		),
		...(facts.events.Opened
			? [`confirmations that a deposit of this value needs: ${needed ?? "it must be final"}`]
			: [`no deposit is on chain ${origin.chainId}`]),
		...(needsAgreement(view)
			? [`second provider: ${facts.crossCheck ? "has the deposit" : (wait.second?.word ?? "no answer yet")}`]
			: []),
		...(facts.events.Filled
			? []
			: [`inventory for the output: ${facts.isReserved ? "reserved" : "not reserved"}`]),
		...(view.isCrossChain
			? [`attesters alive: ${facts.attestersAlive}, needed: ${policy.attesterThreshold}`]
			: []),
		...(swap.givingUp ? [`the delivery was given up: ${swap.givingUp}`] : []),
		`last moment to open: ${fromNow(openDeadline)}, to fill: ${fromNow(fillDeadline)}; anyone may refund: ${fromNow(refundAfter)}`,
	];
}

function describeHead({ chainId, number, timestamp, finalizedNumber }: ChainHead, nowMs: number): string {
	const age = Math.round(nowMs / 1_000 - timestamp);
	return `chain ${chainId} is at block ${number}, ${age} s old; ${finalizedNumber} is final`;
}

function describeDepth(event: { blockNumber: number }, head: ChainHead): string {
	const { blockNumber } = event;
	const depth = isFinal(event, head) ? "final" : `${head.number - blockNumber} blocks deep, not final`;
	return `in block ${blockNumber} of chain ${head.chainId}, ${depth}`;
}

export function secondsAgo(time: Date, nowMs: number): string {
	return `${Math.max(0, Math.round((nowMs - time.getTime()) / 1_000))} s ago`;
}

export function secondsUntil(time: Date, nowMs: number): string {
	return `in ${Math.max(0, Math.round((time.getTime() - nowMs) / 1_000))} s`;
}
