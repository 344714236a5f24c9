import type { Milliseconds } from "@geoswap/protocol";
import { type NodeAnswer, type NodeCall, refusalKind } from "./node-call.ts";
import { hasMethod, isResting, type NodeState } from "./node-state.ts";

/**
 * Offers a transaction concurrently to all nodes that send, and returns when the first one takes it. If none does, a
 * node that gave no answer decides. It may have passed the transaction on, so the outcome is unknown. It then rests,
 * and gets no calls for a while, so that the refusals of the others count.
 */
export async function sendToAll({
	nodes,
	call,
	ask,
	isKnown,
	nowMs,
}: {
	nodes: readonly NodeState[];
	call: NodeCall;
	ask: (node: NodeState) => Promise<NodeAnswer>;
	/** True if a refusal means that the chain has the transaction, or has another in its place. */
	isKnown: (message: string) => boolean;
	nowMs: () => Milliseconds;
}): Promise<unknown> {
	const now = nowMs();
	const able = nodes.filter((node) => hasMethod(node, call.method, now));
	const awake = able.filter((node) => !isResting(node, now));
	const asked = awake.length > 0 ? awake : able.length > 0 ? able : nodes;
	const taken = Promise.withResolvers<NodeAnswer & { kind: "result" }>();
	const answers = Promise.all(
		asked.map(async (node) => {
			const answer = await ask(node);
			if (answer.kind === "result") taken.resolve(answer);
			return { node, answer };
		}),
	);
	const first = await Promise.race([taken.promise, answers]);
	if (!Array.isArray(first)) return first.value;
	const refusals: (NodeAnswer & { kind: "refused" })[] = [];
	let unanswered: (NodeAnswer & { kind: "failed" }) | undefined;
	for (const { node, answer } of first) {
		if (answer.kind === "failed") unanswered ??= answer;
		if (answer.kind !== "refused") continue;
		const meaning = refusalKind(answer);
		if (meaning === "method-missing") node.missingMethods.set(call.method, now);
		refusals.push(answer);
	}
	const known = refusals.find(({ message }) => isKnown(message));
	if (known) return known.give();
	if (unanswered) throw unanswered.error;
	const [about = refusals[0]] = refusals.filter((refusal) => refusalKind(refusal) === "answer");
	if (!about) throw new Error("no node accepts transactions");
	return about.give();
}
