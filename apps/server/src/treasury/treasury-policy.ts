/** What the operator lets the planner do, and at what price. docs/treasury.md explains each value. */
export type TreasuryPolicy = {
	/** How far ahead the inventory of a chain must last. */
	horizonHours: number;
	/** Age at which a minute's demand counts half. */
	halfLifeHours: number;
	/** Standard deviations of demand that the inventory must cover beside the mean. */
	deviations: number;
	/** Minimum need of a chain, as a share of its target. */
	minNeedPercent: number;
	/** Maximum share of the inventory that is between chains at the same time, late moves included. */
	maxTransitPercent: number;
	/** Maximum share of the inventory in one move. */
	maxMovePercent: number;
	/** A move's benefit must be at least this share of its cost. */
	minBenefitPercent: number;
	/** What a swap of the inventory earns, in hundredths of a basis point. */
	netFeeCentibps: number;
	/** What capital costs a year, for the time in which a move can serve no swap. */
	capitalPercentPerYear: number;
	/** Maximum number of moves between chains in one plan. */
	maxBridges: number;
	/** Maximum price impact of a trade. */
	maxImpactBps: number;
	/** How far below the ladder's price a trade may end. */
	maxSlippageBps: number;
	/** A relayer whose gas lasts for less is refilled. */
	minRelayerHours: number;
	/** How long the gas of a refilled relayer lasts. */
	refillRelayerHours: number;
	/** Maximum amount by which a quote may be better or worse for the sake of the inventory. */
	maxSkewBps: number;
};

export const defaultTreasuryPolicy: TreasuryPolicy = {
	horizonHours: 1,
	halfLifeHours: 3,
	deviations: 1.3,
	minNeedPercent: 25,
	maxTransitPercent: 25,
	maxMovePercent: 30,
	minBenefitPercent: 200,
	netFeeCentibps: 1_250,
	capitalPercentPerYear: 10,
	maxBridges: 4,
	maxImpactBps: 10,
	maxSlippageBps: 10,
	minRelayerHours: 6,
	refillRelayerHours: 72,
	maxSkewBps: 15,
};
