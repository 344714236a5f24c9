import { fromWord, type Order } from "@geoswap/protocol";
import { type Address, type SignedAuthorization, zeroAddress } from "viem";
import type { Attestation, Bundle, Fill } from "../../chain/evm/send/encode-bundle.ts";
import { readDelegation } from "../../chain/evm/wallet/read-delegation.ts";
import type { Job } from "../../swap/facts/job.ts";
import { evmOp, signedUserOp } from "./evm-op.ts";
import type { Lane } from "./lane.ts";

/** What a transaction for these jobs is made of. They are of one kind, for one contract. */
export type Draft = { bundle: Bundle; authorizationList?: SignedAuthorization[] };

/** The list that attesters signed for may name more orders than there are jobs left to do. */
export type AttestedOrders = { orders: Order[]; attestation: Attestation };

export async function makeBundle(
	lane: Lane,
	jobs: readonly Job[],
	attested: AttestedOrders | undefined,
): Promise<Draft> {
	const [first] = jobs;
	if (!first) throw new RangeError("a bundle is of at least one job");
	// Read only where the job is of that side: the order's other one may be no EVM chain.
	const escrow = () => fromWord(first.order.escrow);
	const vault = () => fromWord(first.order.destinationVault);
	switch (first.kind) {
		case "open":
			return makeOpens(
				lane,
				jobs.filter((job) => job.kind === "open"),
			);
		case "fill":
			return {
				bundle: {
					kind: "fill",
					vault: vault(),
					fills: fillsOf(
						lane,
						jobs.filter((job) => job.kind === "fill"),
					),
				},
			};
		case "void":
			return { bundle: { kind: "void", vault: vault(), orders: jobs.map((job) => job.order) } };
		case "release":
		case "refund":
			return attested
				? { bundle: { kind: first.kind, escrow: escrow(), ...attested } }
				: { bundle: { kind: "late-refund", escrow: escrow(), order: first.order } };
	}
}

async function makeOpens({ chain, account }: Lane, jobs: Job<"open">[]): Promise<Draft> {
	const bundle: Bundle = {
		kind: "open",
		entryPoint: chain.deployment.contracts.entryPoint,
		userOps: jobs.map(signedUserOp),
		beneficiary: account.address,
	};
	// One with an authorization travels alone.
	const [first] = jobs;
	const authorization = first && evmOp(first).authorization;
	if (!first || !authorization) return { bundle };
	const isDelegated = await isDelegatedTo(chain, first);
	return isDelegated ? { bundle } : { bundle, authorizationList: [authorization] };
}

/** Read each time: a delegation stays even where the transaction that brought it reverted. */
async function isDelegatedTo(chain: Lane["chain"], job: Job<"open">): Promise<boolean> {
	const delegation = await readDelegation(chain, fromWord(job.order.wallet));
	const delegate: Address | undefined = delegation.kind === "ours" ? delegation.delegate : undefined;
	return delegate === evmOp(job).delegate;
}

function fillsOf({ freshMinimum, chain }: Lane, jobs: readonly Job<"fill">[]): Fill[] {
	const { wrappedNative } = chain.deployment;
	const spentOn = new Map<Address, bigint>();
	return jobs.map(({ order, payload: { delivery } }) => {
		if (delivery.kind === "payout") throw new Error("a payout is made on Solana");
		if (delivery.kind === "stock") {
			return { order, amount: delivery.amount, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
		}
		// The native token's pools are the wrapped one's.
		const output = fromWord(order.outputToken);
		const token = output === zeroAddress ? wrappedNative : output;
		const inFlight = spentOn.get(token) ?? 0n;
		spentOn.set(token, inFlight + delivery.budget);
		const [poolFee = 0, secondPoolFee = 0] = delivery.fees;
		const minOutput = freshMinimum({ order, delivery, inFlight });
		return { order, amount: delivery.budget, minOutput, poolFee, secondPoolFee };
	});
}
