import type { Edit } from "./plant-in.ts";

/** A mistake that someone could make in the code as it is, and that the simulator must find. */
export type PlantedBug = { name: string; why: string; edits: Edit[] };

const lane = "apps/server/src/lane";
const store = "apps/server/src/store";
const swap = "apps/server/src/swap";

export const plantedBugs: readonly PlantedBug[] = [
	{
		name: "journal-after-send",
		why: "The transaction is sent before it is written down: who dies in between does not know what it sent.",
		edits: [
			{
				file: `${lane}/sign-next-bundle.ts`,
				find: "		await insertLaneTransaction(db, lane.id, transaction);\n",
				replace: `		const { raw } = transaction;
		await lane.chain.client.request({ method: "eth_sendRawTransaction", params: [raw] }).catch(() => {});
		await insertLaneTransaction(db, lane.id, transaction);
`,
			},
		],
	},
	{
		name: "refund-without-void",
		why: "An order that nothing was signed to fill is refunded at once: it is still open to be filled.",
		edits: [
			{
				file: `${swap}/decide.ts`,
				find: "if (view.isFillExpired || (Voided && isFinal(Voided, destination))) {",
				replace: "if (view.isFillExpired || Voided || !view.isFillOut) {",
			},
		],
	},
	{
		name: "failed-before-the-deadline",
		why: "An op that the lane gave up is taken for dead: whoever has it can still open the order with it.",
		edits: [
			{
				file: `${swap}/decide.ts`,
				find: "if (view.isOpenExpired && !isFillOut) {",
				replace: 'if ((view.isOpenExpired || jobs.open?.state === "refused") && !isFillOut) {',
			},
		],
	},
	{
		name: "nonce-reused-after-restore",
		why: "A lane that has a nonce does not ask the chain for it: one from a backup was spent long ago.",
		edits: [
			{
				file: `${store}/lane-transactions.ts`,
				find: "do update set next_nonce = greatest(lanes.next_nonce, excluded.next_nonce)`",
				replace: "do nothing`",
			},
		],
	},
	{
		name: "reorg-ignored",
		why: "Blocks that the chain dropped are forgotten, but not what happened in them.",
		edits: [
			{
				file: `${store}/undo-blocks.ts`,
				find: "	await db.query(\n		`update lane_transactions",
				replace: "	if (head) return [];\n	await db.query(\n		`update lane_transactions",
			},
		],
	},
	{
		name: "event-without-order-id",
		why: "A deposit is known by its wallet: another order of the same wallet counts as this one's.",
		edits: [
			{
				file: `${store}/look.ts`,
				find: "where order_id = $1 and chain_id = any($2) and e.name = any($3)`",
				replace: `where order_id in (
					select other.order_id from swaps own join swaps other
						on own.order_terms->>'wallet' = other.order_terms->>'wallet' where own.order_id = $1
				) and chain_id = any($2) and e.name = any($3)\``,
			},
		],
	},
	{
		name: "release-at-depth",
		why: "A delivery counts as final once it is deep enough for its value, and attesters look at the newest block.",
		edits: [
			{
				file: `${swap}/decide.ts`,
				find: "const isFillFinal = isFinal(filled, destination);",
				replace: "const isFillFinal = isDelivered(view, filled);",
			},
			{
				file: "apps/server/src/attest/check-outcomes.ts",
				find: 'const finalized = await readBlock(destination, "finalized");',
				replace: 'const finalized = await readBlock(destination, "latest");',
			},
		],
	},
	{
		name: "rounding-up",
		why: "What is paid out is rounded up, by less than a unit.",
		edits: [
			{
				file: "packages/protocol/src/amount.ts",
				find: "return (a * b) / divisor;",
				replace: "return (a * b + divisor - 1n) / divisor;",
			},
		],
	},
	{
		name: "double-reservation",
		why: "What was reserved at submit is reserved once more when the deposit is seen, in case it lapsed.",
		edits: [
			{
				file: `${swap}/decide.ts`,
				find: "if (isPending && !view.isReserved) {",
				replace: 'if (isPending && (!view.isReserved || swap.stage === "opening")) {',
			},
			{
				file: `${store}/reservations.ts`,
				find: '	if (isThere) return "reserved";\n',
				replace: '	if (isThere === null) return "reserved";\n',
			},
			{
				file: `${store}/reservations.ts`,
				find: "values ($1, $2, $3, $4, $5, $6, $7, true, now())`",
				replace:
					"values ($1, $2, $3, $4, $5, $6, $7, true, now()) on conflict (swap_id) do update set opened = true`",
			},
		],
	},
	{
		name: "lane-waits-for-a-receipt",
		why: "A lane has one transaction under way at a time: one that no block takes holds up all behind it.",
		edits: [
			{
				file: `${lane}/create-lane.ts`,
				find: "while (underWay !== undefined && underWay < maxUnderWay) {",
				replace: "while (underWay === 0) {",
			},
		],
	},
	{
		name: "replacement-with-other-jobs",
		why: "A replacement does all that is stuck, not only its own: any of the attempts may land, and each does other jobs.",
		edits: [
			{
				file: `${lane}/push-transactions.ts`,
				find: 'import { sendRaw } from "../chain/evm/send-raw.ts";\n',
				replace: `import { encodeBundle } from "../chain/evm/encode-bundle.ts";
import { sendRaw } from "../chain/evm/send-raw.ts";
import { makeBundle } from "./make-bundle.ts";
`,
			},
			{
				file: `${lane}/push-transactions.ts`,
				find: "		const raw = isCancelled\n",
				replace: `		const stuck = [];
		for (const { nonce } of isCancelled ? [] : await openLaneTransactions(db, id)) {
			stuck.push(...(await jobsOfNonce(db, id, nonce)).filter(({ kind }) => kind === transaction.kind));
		}
		const draft = stuck.length > jobs.length ? await makeBundle(lane, stuck, undefined) : undefined;
		if (draft) Object.assign(before, encodeBundle(draft.bundle));
		const raw = isCancelled
`,
			},
		],
	},
	{
		name: "stale-authorization-fatal",
		why: "An authorization that was used up meanwhile is an error: all that waits behind it goes nowhere.",
		edits: [
			{
				file: `${lane}/make-bundle.ts`,
				find: "	return isDelegated ? { bundle } : { bundle, authorizationList: [authorization] };\n",
				replace: `	if (isDelegated) throw new Error("the authorization is used up");
	return { bundle, authorizationList: [authorization] };
`,
			},
		],
	},
];
