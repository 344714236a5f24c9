import {
	type Attestation,
	type Bundle,
	type Fill,
	fromWord,
	type Order,
	orderSchema,
} from "@geoswap/protocol";
import { type Address, type Hex, type SignedAuthorization, zeroAddress } from "viem";
import { readDelegation } from "../../chain/evm/wallet/wallet-delegation.ts";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { evmOp, openingOf } from "./evm-op.ts";
import type { Lane } from "./lane.ts";

/** The parts of a transaction for some jobs, which are all of one kind and for one contract. */
export type Draft = { bundle: Bundle; authorizationList?: SignedAuthorization[] };

/** A list of orders with the attesters' signatures over all of them. Some of the orders may be done already. */
export type AttestedOrders = { orders: Order[]; attestation: Attestation };

export async function makeBundle(
	lane: Lane,
	jobs: readonly Job[],
	attested: AttestedOrders | undefined,
): Promise<Draft> {
	const [first] = jobs;
	if (!first) throw new RangeError("a bundle needs at least one job");
	// Read only for jobs of that side, because the chain on the order's other side may not be an EVM chain.
	const escrow = () => fromWord(first.order.escrow);
	const vault = () => fromWord(first.order.destinationVault);
	switch (first.kind) {
		case "open":
			return makeOpens(
				lane,
				escrow(),
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

async function makeOpens({ chain }: Lane, escrow: Address, jobs: Job<"open">[]): Promise<Draft> {
	const bundle: Bundle = { kind: "open", escrow, openings: jobs.map(openingOf) };
	// An op with an authorization is alone in its bundle.
	const [first] = jobs;
	const authorization = first && evmOp(first).authorization;
	if (!first || !authorization) return { bundle };
	const isDelegated = await isDelegatedTo(chain, first);
	return isDelegated ? { bundle } : { bundle, authorizationList: [authorization] };
}

/** Reads the delegation each time, because it stays even if the transaction that set it reverted. */
async function isDelegatedTo(chain: Lane["chain"], job: Job<"open">): Promise<boolean> {
	const delegation = await readDelegation(chain, fromWord(job.order.wallet));
	// If the op's delegate was replaced since the submit, the delegation is one of kind `earlier`.
	return "delegate" in delegation && delegation.delegate === evmOp(job).delegate;
}

function fillsOf({ freshMinimum, chain }: Lane, jobs: readonly Job<"fill">[]): Fill[] {
	const { wrappedNative } = chain.deployment;
	const spentOn = new Map<Address, bigint>();
	return jobs.map(({ order, payload: { delivery } }) => {
		if (delivery.kind === "payout") throw new Error("a payout is made on Solana");
		if (delivery.kind === "inventory") {
			return { order, amount: delivery.amount, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
		}
		// The native token is traded in the pools of the wrapped one.
		const output = fromWord(order.outputToken);
		const token = output === zeroAddress ? wrappedNative : output;
		const inFlight = spentOn.get(token) ?? 0n;
		spentOn.set(token, inFlight + delivery.budget);
		const [poolFee = 0, secondPoolFee = 0] = delivery.fees;
		const minOutput = freshMinimum({ order, delivery, inFlight });
		return { order, amount: delivery.budget, minOutput, poolFee, secondPoolFee };
	});
}

type AttestedBatch = {
	/** In the order of the signed list. */
	orders: Order[];
	attestation: { threshold: bigint; attesters: Address[]; signatures: Hex[] };
};

/** Reads a list of orders with the attesters' signatures. Returns undefined if one of its orders is no longer known. */
export async function readAttestedBatch(
	db: Database,
	{ attestationId, kind }: { attestationId: string; kind: JobKind },
): Promise<AttestedBatch | undefined> {
	const { rows } = await db.query<AttestationRow>(
		`select threshold, attesters, signatures, order_ids, (
			select jsonb_object_agg('0x' || encode(order_id, 'hex'), order_terms) from jobs where kind = $2
				and order_id = any(array(select decode(substr(hex, 3), 'hex') from jsonb_array_elements_text(order_ids) as hex))
		) as terms from attestations where id = $1`,
		[attestationId, kind],
	);
	const [row] = rows;
	if (!row) return undefined;
	const terms = row.terms ?? {};
	const orders = row.order_ids.flatMap((id) => (terms[id] ? [orderSchema.parse(terms[id])] : []));
	if (orders.length !== row.order_ids.length) return undefined;
	const { threshold, attesters, signatures } = row;
	return { orders, attestation: { threshold: BigInt(threshold), attesters, signatures } };
}

type AttestationRow = Row<"attestations", "threshold"> & {
	attesters: Address[];
	signatures: Hex[];
	order_ids: Hex[];
	/** The orders' terms by order id, in lower case as ids are written everywhere. */
	terms: Record<Hex, object> | null;
};
