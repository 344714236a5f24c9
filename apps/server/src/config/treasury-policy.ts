import * as z from "zod";

/** What the operator lets the planner do, and at what price. docs/treasury.md explains each value. */
const policySchema = z.strictObject({
	/** How far ahead the inventory of a chain must last. */
	horizonHours: z.number().positive().max(168).default(1),
	/** Age at which a minute's demand counts half. Eight times that must be within the week for which demand is kept. */
	halfLifeHours: z.number().min(0.1).max(21).default(3),
	/** Standard deviations of demand that the inventory must cover beside the mean. */
	deviations: z.number().nonnegative().max(10).default(1.3),
	/** Minimum need of a chain, as a share of its target. */
	minNeedPercent: z.int().min(0).max(100).default(25),
	/** Maximum share of the inventory that is between chains at the same time, late moves included. */
	maxTransitPercent: z.int().min(0).max(100).default(25),
	/** Maximum share of the inventory in one move. */
	maxMovePercent: z.int().min(1).max(100).default(30),
	/** A move's benefit must be at least this share of its cost. */
	minBenefitPercent: z.int().min(100).max(10_000).default(200),
	/** What a swap of the inventory earns, in hundredths of a basis point. */
	netFeeCentibps: z.int().positive().max(100_000).default(1_250),
	/** What capital costs a year, for the time in which a move can serve no swap. */
	capitalPercentPerYear: z.int().min(0).max(1_000).default(10),
	/** Maximum number of moves between chains in one plan. */
	maxBridges: z.int().min(0).max(100).default(4),
	/** Maximum price impact of a trade. */
	maxImpactBps: z.int().min(0).max(1_000).default(10),
	/** How far below the ladder's price a trade may end. */
	maxSlippageBps: z.int().min(0).max(1_000).default(10),
	/** A relayer whose gas lasts for less is refilled. */
	minRelayerHours: z.int().positive().max(720).default(6),
	/** How long the gas of a refilled relayer lasts. */
	refillRelayerHours: z.int().positive().max(720).default(72),
});

/** How the inventory is moved between chains, and prices lean by what it lacks. */
export const treasurySchema = z.strictObject({
	/**
	 * `plan`: a worker computes what it would move, and prices lean by the needs. Nothing is moved. `act`: it also queues
	 * these moves, and signs them with the treasurers' keys.
	 */
	mode: z.enum(["off", "plan", "act"]).default("plan"),
	/** Time between two plans. */
	planSeconds: z.int().min(1).max(600).default(300),
	/** Circle's attestation service, which is read for moves between chains. */
	iris: z
		.strictObject({
			url: z.url({ protocol: /^https?$/ }).default("https://iris-api.circle.com"),
			timeoutMs: z.int().min(100).max(60_000).default(5_000),
		})
		.prefault({}),
	/**
	 * Ways between two vaults that a person goes, such as by an exchange. A plan shows what to send by them, and nothing is
	 * sent by itself.
	 */
	manualRoutes: z
		.array(
			z.strictObject({
				from: z.int().positive(),
				to: z.int().positive(),
				/** The usual time until the amount has arrived. */
				seconds: z.int().positive().max(2_592_000),
				feeCentibps: z.int().min(0).max(1_000_000).default(0),
				maxUsd: z.number().positive().max(1e12),
			}),
		)
		.default([]),
	policy: policySchema.prefault({}),
});

export type TreasuryPolicy = z.output<typeof policySchema>;

/** The policy of a configuration that gives none. */
export const defaultTreasuryPolicy: TreasuryPolicy = policySchema.parse({});
