import type { Fault, HostileNodes, Plan, SwapPlan } from "./plan.ts";
import { planOfSeed } from "./plan-arbitrary.ts";

const strangers = 12;

/**
 * Returns a plan whose only disturbances are strangers and nodes. Receipts of the service's own transactions contain
 * the logs that a node leaves out. So if nodes leave logs out, strangers open many orders while the service's
 * transactions wait; and if they refuse the logs of blocks, many orders are opened without a submit.
 */
export function hostilePlan(
	seed: number,
	{ swaps: count, nodes }: { swaps: number; nodes: HostileNodes },
): Plan {
	const plan = planOfSeed(seed, { swaps: count, faults: 0 });
	const behaviourOf = ({ behaviour }: SwapPlan, index: number): SwapPlan["behaviour"] => {
		if (behaviour === "plain" && index % 2 === 0 && nodes !== "cap") {
			return nodes === "omit" ? "front-run" : "opens-unsubmitted";
		}
		// An order without a swap is known by its event alone. If no node returns the event, the order's wallet has to refund
		// it.
		return nodes !== "mute" && behaviour === "opens-unsubmitted" ? "plain" : behaviour;
	};
	const swaps = plan.swaps.map((swap, index) => ({ ...swap, behaviour: behaviourOf(swap, index) }));
	const holdBack = { kind: "hold-back", atMs: 0, forMs: 60_000, percent: 60 } as const;
	const faults: Fault[] =
		nodes === "omit" ? (["east", "west"] as const).map((chain) => ({ ...holdBack, chain })) : [];
	return { ...plan, swaps, faults, strangers, nodes };
}
