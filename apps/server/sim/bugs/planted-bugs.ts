import type { HostileNodes } from "../plan.ts";
import type { Edit } from "./plant-in.ts";

/** A mistake that could be made in the current code, and that the simulator must find. */
export type PlantedBug = {
	name: string;
	why: string;
	edits: Edit[];
	/** If set, the bug is searched for in worlds whose only disturbance is this many acts of strangers. */
	strangers?: number;
	/** If set, the bug is searched for in worlds whose nodes fail to return logs in this way. */
	nodes?: HostileNodes;
};

export const plantedBugs: readonly PlantedBug[] = [
	{
		name: "journal-after-send",
		why: "The transaction is sent before it is written down: who dies in between does not know what it sent.",
		edits: [
			{
				file: "apps/server/src/lane/evm/sign-next-bundle.ts",
				find: "	const transactions = transaction ? [transaction] : [];\n",
				replace: `	const transactions = transaction ? [transaction] : [];
	for (const { raw } of transactions) {
		await lane.chain.client.request({ method: "eth_sendRawTransaction", params: [raw] }).catch(() => {});
	}
`,
			},
		],
	},
	{
		name: "refund-without-void",
		why: "An order that nothing was signed to fill is refunded at once: it is still open to be filled.",
		edits: [
			{
				file: "apps/server/src/swap/decide/decide.ts",
				find: "if (view.isFillExpired || (Voided && isFinal(Voided, destination))) {",
				replace: "if (view.isFillExpired || Voided || !view.isFillOut) {",
			},
		],
	},
	{
		name: "failed-before-the-deadline",
		why: "An op that the lane gave up is taken for dead: anyone who has it can still open the order with it.",
		edits: [
			{
				file: "apps/server/src/swap/decide/decide.ts",
				find: "if (view.isOpenExpired && !isFillOut) {",
				replace: 'if ((view.isOpenExpired || jobs.open?.state === "refused") && !isFillOut) {',
			},
		],
	},
	{
		name: "reorg-ignored",
		why: "Blocks that the chain dropped are forgotten, but not what happened in them.",
		edits: [
			{
				file: "apps/server/src/follow/evm/undo-blocks.ts",
				find: "	await db.query(\n		`update lane_transactions set",
				replace: "	if (head) return [];\n	await db.query(\n		`update lane_transactions set",
			},
		],
	},
	{
		name: "event-without-order-id",
		why: "A deposit is known by its wallet: another order of the same wallet counts as this one's.",
		edits: [
			{
				file: "apps/server/src/round/load-swap-facts.ts",
				find: "where order_id = s.order_id and e.name = any($2)) as events",
				replace: `where order_id in (select other.order_id from swaps other
						where other.order_terms->>'wallet' = s.order_terms->>'wallet') and e.name = any($2)) as events`,
			},
		],
	},
	{
		name: "release-at-depth",
		why: "A delivery counts as final once it is deep enough for its value, and attesters look at the newest block.",
		edits: [
			{
				file: "apps/server/src/swap/decide/decide.ts",
				find: "const isFillFinal = isFinal(filled, destination);",
				replace: "const isFillFinal = isDelivered(view, filled);",
			},
			{
				file: "apps/server/src/attester/check-outcomes.ts",
				find: 'const finalized = await readBlock(destination, "finalized");',
				replace: 'const finalized = await readBlock(destination, "latest");',
			},
		],
	},
	{
		name: "swaps-mixed-up",
		why: "Of a round's swaps, the amounts that were delivered are written to one another's rows.",
		edits: [
			{
				file: "apps/server/src/round/write-swaps.ts",
				find: "changes.map(({ notes }) => notes.deliveredAmount ?? null)",
				replace: "changes.toReversed().map(({ notes }) => notes.deliveredAmount ?? null)",
			},
		],
	},
	{
		name: "tick-missing",
		why: "Nobody looks for work that is due: a poke that is lost, or held up behind a dead worker, is never made up for.",
		edits: [
			{
				file: "apps/server/src/process/create-tick.ts",
				find: "		const { round, chains } = await readDue();\n",
				replace: "		if (turn > 0) return;\n		const { round, chains } = await readDue();\n",
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
				file: "apps/server/src/swap/decide/decide.ts",
				find: "if (isPending && !view.isReserved) {",
				replace: 'if (isPending && (!view.isReserved || swap.stage === "opening")) {',
			},
			{
				file: "apps/server/src/money/inventory/reservations.ts",
				find: '	if (isThere) return "reserved";\n',
				replace: '	if (isThere === null) return "reserved";\n',
			},
			{
				file: "apps/server/src/money/inventory/reservations.ts",
				find: "$volumes, true, now())`",
				replace: "$volumes, true, now()) on conflict (swap_id) do update set opened = true`",
			},
		],
	},
	{
		name: "lane-waits-for-a-receipt",
		why: "A lane has one transaction under way at a time: one that no block takes holds up all behind it.",
		edits: [
			{
				file: "apps/server/src/lane/evm/create-lane.ts",
				find: "while (mayHaveWork && underWay !== undefined && underWay < maxUnderWay && undone < maxUndone) {",
				replace: "while (mayHaveWork && underWay === 0 && undone < maxUndone) {",
			},
		],
	},
	{
		name: "replacement-with-other-jobs",
		why: "A replacement does all that is stuck, not only its own: any of the attempts may land, and each does other jobs.",
		edits: [
			{
				file: "apps/server/src/lane/evm/push-transactions.ts",
				find: 'import { type SendOutcome, sendRaw } from "../../chain/evm/send/send-raw.ts";\n',
				replace: `import { encodeBundle } from "@geoswap/protocol";
import { type SendOutcome, sendRaw } from "../../chain/evm/send/send-raw.ts";
import { openLaneTransactions } from "../../job/journal/lane-transactions.ts";
import { makeBundle } from "./make-bundle.ts";
`,
			},
			{
				file: "apps/server/src/lane/evm/push-transactions.ts",
				find: "	let raw: Hex;\n",
				replace: `	const stuck = [];
	for (const { nonce } of isCancelled ? [] : await openLaneTransactions(pool, id)) {
		stuck.push(...(await jobsOfNonce(pool, id, nonce)).filter(({ kind }) => kind === transaction.kind));
	}
	const draft = stuck.length > jobs.length ? await makeBundle(lane, stuck, undefined) : undefined;
	if (draft) Object.assign(before, encodeBundle(draft.bundle));
	let raw: Hex;
`,
			},
		],
	},
	{
		name: "stale-authorization-fatal",
		why: "An authorization that was used up meanwhile is an error: all that waits behind it goes nowhere.",
		edits: [
			{
				file: "apps/server/src/lane/evm/make-bundle.ts",
				find: "	return isDelegated ? { bundle } : { bundle, authorizationList: [authorization] };\n",
				replace: `	if (isDelegated) throw new Error("the authorization is used up");
	return { bundle, authorizationList: [authorization] };
`,
			},
		],
	},
	{
		name: "inventory-of-strangers",
		why: "What anyone has released to the vault is booked as inventory, and looked for there, whatever its token says.",
		strangers: 12,
		edits: [
			{
				file: "apps/server/src/money/ledger/event-entries.ts",
				find: 'entry.account === "inventory" && !isListed(entry.token)',
				replace: 'entry.account === "inventory" && !isListed && !entry.token',
			},
			{
				file: "apps/server/src/audit/check/check-balances.ts",
				find: "	const [inEscrows, inVaults] = await Promise.all([\n",
				replace: `	const ofChain = [...books.inventory.keys()].map((key) => key.split(":"));
	const booked = ofChain.flatMap(([id, token]) => (id === String(chainId) ? [getAddress(token as Hex)] : []));
	tokens.push(...booked.filter((token) => !tokens.includes(token)));
	const [inEscrows, inVaults] = await Promise.all([
`,
			},
		],
	},
	{
		name: "failure-by-the-logs",
		why: "A swap fails if no log shows its deposit: a node that leaves the log out hides an input in the escrow.",
		nodes: "omit",
		edits: [
			{
				file: "apps/server/src/swap/decide/swap-view.ts",
				find: "		origin.comparedTimestamp > openDeadline &&\n",
				replace:
					"		origin.finalizedTimestamp > openDeadline ||\n		origin.comparedTimestamp > openDeadline &&\n",
			},
		],
	},
	{
		name: "failure-by-our-receipt",
		why: "A swap fails if our own transaction did not open its order: the order's state is not read, and a stranger may have opened it.",
		nodes: "omit",
		edits: [
			{
				file: "apps/server/src/swap/decide/swap-view.ts",
				find: "isOpenExpired: ({ swap, origin, openDeadline }) =>\n",
				replace: `isOpenExpired: ({ swap, origin, openDeadline, jobs }) =>
			jobs.open?.reason === "reverted" ||
`,
			},
		],
	},
	{
		name: "not-opened-decides",
		why: "A swap fails once the escrow reports its order as not opened: anyone can cause that report.",
		strangers: 0,
		edits: [
			{
				file: "packages/protocol/src/evm/read-logs.ts",
				find: 'const escrowEvents = ["Opened",',
				replace: 'const escrowEvents = ["NotOpened", "Opened",',
			},
			{
				file: "apps/server/src/chain/evm/read/decode-events.ts",
				find: '			case "Skipped":\n				return [{ ...place, name: "Skipped", orderId: log.args.orderId, data: {} }];\n',
				replace: `			case "NotOpened":
			case "Skipped":
				return [{ ...place, name: log.eventName, orderId: log.args.orderId, data: {} }];
`,
			},
			{
				file: "apps/server/src/round/load-swap-facts.ts",
				find: '= ["Opened", "Released",',
				replace: '= ["NotOpened", "Opened", "Released",',
			},
			{
				file: "apps/server/src/swap/decide/decide.ts",
				find: "if (view.isOpenExpired && !isFillOut) {",
				replace: "if ((view.isOpenExpired || view.events.NotOpened) && !isFillOut) {",
			},
		],
	},
	{
		name: "gas-of-a-simulation",
		why: "The gas limit of opens follows from what their simulation used: the escrow requires the whole limit of each order.",
		strangers: 0,
		edits: [
			{
				file: "apps/server/src/lane/evm/bundle-gas.ts",
				find: "	return opensGas(jobs);\n",
				replace: "	return (gasUsed * 13n) / 10n;\n",
			},
		],
	},
	{
		name: "unread-block-forgotten",
		why: "A block whose logs no node returned is never requested again: what strangers did in it stays unknown.",
		nodes: "mute",
		edits: [
			{
				file: "apps/server/src/follow/evm/advance.ts",
				find: "	const facts = await readBlockFacts({ chain, pool, block, isLasting: false, log });\n",
				replace: "	const facts: BlockFacts = { events: [], mined: [], isComplete: log !== undefined };\n",
			},
		],
	},
	{
		name: "refund-without-a-record",
		why: "An order to Solana is refunded although it is neither voided nor late: service and attesters take the absence of a record for the end.",
		edits: [
			{
				file: "apps/server/src/swap/decide/decide.ts",
				find: "if (view.isFillExpired || (Voided && isFinal(Voided, destination))) {",
				replace: "if (view.isFillExpired || Voided || !view.isFillOut) {",
			},
			{
				file: "apps/server/src/attester/check-outcomes.ts",
				find: 'return unixSeconds >= fillDeadline ? undefined : "not_expired";',
				replace: "return undefined;",
			},
		],
	},
	{
		name: "orders-not-compared",
		why: "The accounts of orders on Solana are not compared: only what our own transactions did is known.",
		strangers: 12,
		edits: [
			{
				file: "apps/server/src/follow/solana/compare-solana-orders.ts",
				find: "return neverOpened.has(one.orderId) ? [] : eventsOf(account);",
				replace: "return [];",
			},
		],
	},
	{
		name: "lost-transactions-twice",
		why: "The lost transactions of an order within Solana are taken in once for each of its two sides.",
		edits: [
			{
				file: "apps/server/src/follow/solana/compare-solana-orders.ts",
				find: "orders.filter((order) => !isRead(order))",
				replace: "orders.filter((order) => !isRead(order) || true)",
			},
		],
	},
	{
		name: "rent-left-behind",
		why: "The accounts of orders from Solana to other chains are never closed: the fee payer's rent stays there.",
		edits: [
			{
				file: "apps/server/src/lane/solana/sweep-rents.ts",
				find: "if (!order?.isPaid) return [];",
				replace: "if (!order?.isPaid || !order.isLocal) return [];",
			},
		],
	},
	{
		name: "solana-orders-lost",
		why: "After a restore nobody searches the program for orders whose swaps are lost.",
		edits: [
			{
				file: "apps/server/src/round/rebuild/find-lost-orders.ts",
				find: "if (!restore) return;",
				replace: "if (!restore || restore.at) return;",
			},
		],
	},
	{
		name: "rebuilt-swap-is-old",
		why: "A swap that was rebuilt from an account on Solana counts as never opened before the follower has read its events.",
		edits: [
			{
				file: "apps/server/src/round/rebuild/rebuild-swap.ts",
				find: "isSolana(order.originChainId) ? null : quotedAtMs",
				replace: "quotedAtMs",
			},
		],
	},
	{
		name: "gift-taken-for-a-payment",
		why: "Lamports that a stranger has paid out of a paid order count as its payment, which is too small.",
		strangers: 12,
		edits: [
			{
				file: "apps/server/src/audit/read/solana-events.ts",
				find: "if (isNative && paid.has(account)) {",
				replace: "if (left < 0n) {",
			},
		],
	},
	{
		name: "age-from-the-stored-head",
		why: "The age of a transaction is counted from the follower's last block: the chain may be far ahead of it.",
		edits: [
			{
				file: "apps/server/src/lane/evm/push-transactions.ts",
				find: "atBlock = await readNewestBlock(lane, head);",
				replace: "atBlock = head.number;",
			},
		],
	},
	{
		name: "top-up-not-booked",
		why: "A top-up on Solana leaves the vault without an event, so the books hold more SOL than the vault.",
		edits: [
			{
				file: "apps/server/src/follow/solana/landed-events.ts",
				find: "...(topUp > 0n ? [",
				replace: "...(topUp < 0n ? [",
			},
		],
	},
	{
		name: "top-up-counted-as-output",
		why: "The top-up of an order for SOL counts as delivered output.",
		edits: [
			{
				file: "apps/server/src/follow/solana/landed-events.ts",
				find: "const delivered = received - (isOfSol ? filled.topUp : 0n);",
				replace: "const delivered = received;",
			},
		],
	},
];
