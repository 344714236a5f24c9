import type { Edit } from "../bugs/plant-in.ts";

/** A mistake that a check of the treasury's worlds must find, by the check's name. */
export type TreasuryBug = {
	name: string;
	why: string;
	edits: Edit[];
	foundBy: string;
};

export const treasuryBugs: readonly TreasuryBug[] = [
	{
		name: "treasury-gas-counted-twice",
		why: "Each swap of a bundle bears the gas of the whole bundle.",
		foundBy: "gas-once",
		edits: [
			{
				file: "apps/server/sim/treasury/books.ts",
				find: "const amount = i === 0 ? costWei - share * BigInt(causes.length - 1) : share;",
				replace: "const amount = i === 0 ? costWei - share * BigInt(causes.length - 1) : costWei;",
			},
		],
	},
	{
		name: "treasury-posting-without-mark",
		why: "The first mark is written when a price changes first, after the opening balances were posted.",
		foundBy: "marked-postings",
		edits: [
			{
				file: "apps/server/sim/treasury/treasury-world.ts",
				find: "for (const second of market.feedChanges(symbol)) {",
				replace: "for (const second of market.feedChanges(symbol).slice(1)) {",
			},
		],
	},
	{
		name: "treasury-plan-before-events-are-read",
		why: "After a restore the planner goes on at once: moves that the backup lacks are planned again.",
		foundBy: "repeated-move",
		edits: [
			{
				file: "apps/server/sim/treasury/treasurer.ts",
				find: "		if (isReading()) return;\n",
				replace: "",
			},
		],
	},
	{
		name: "treasury-mint-never-comes",
		why: "Nobody requests a late attestation again, so a burn that the bridge's service lost never arrives.",
		foundBy: "mint-arrives",
		edits: [
			{
				file: "apps/server/sim/treasury/treasurer.ts",
				find: "		counts.requestedAgain++;\n		bridge.requestAgain(row.move.moveId);\n",
				replace: "",
			},
		],
	},
	{
		name: "treasury-bytes-unchecked",
		why: "What the bridge's service returns is minted without a look at its recipient and amount.",
		foundBy: "mint-refused",
		edits: [
			{
				file: "apps/server/sim/treasury/treasurer.ts",
				find: "message.amount !== expected",
				replace: "false",
			},
		],
	},
	{
		name: "treasury-id-without-number",
		why: "All moves of a key have the same id.",
		foundBy: "repeated-move",
		edits: [
			{
				file: "apps/server/src/treasury/move-id.ts",
				find: "BigInt(movesSoFar)",
				replace: "0n * BigInt(movesSoFar)",
			},
		],
	},
	{
		name: "treasury-transit-counted-once",
		why: "Each move of a plan may use all of what may be between chains.",
		foundBy: "transit-cap",
		edits: [
			{
				file: "apps/server/src/treasury/plan-bridges.ts",
				find: "		transitLeftE18 -= settlementE18(move.amount, from.chain);\n",
				replace: "",
			},
		],
	},
];
