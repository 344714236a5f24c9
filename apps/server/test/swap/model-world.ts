import { canMove, isTerminal, packDeadlines, type SwapStatus, solanaNativeToken } from "@geoswap/protocol";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import type { Decision } from "../../src/swap/decide/decision.ts";
import type { ChainPolicy, SwapPolicy } from "../../src/swap/decide/swap-policy.ts";
import type { Facts, OrderEvent, OrderEventName } from "../../src/swap/facts/facts.ts";
import type { Job, JobKind, JobReason } from "../../src/swap/facts/job.ts";
import type { SignedOp, SignedSolanaOp } from "../../src/swap/facts/swap-record.ts";

export type ModelOptions = {
	isCrossChain: boolean;
	/** If both sides are on one chain, they are of the same kind. */
	origin: ChainPolicy["kind"];
	destination: ChainPolicy["kind"];
	/** Returns the next number of a sequence, between zero and one. */
	random: () => number;
	/** Number of seconds for which the world is hostile. After that it only does what it must. */
	hostileSeconds: number;
	/** Seconds between blocks, by default 1. Nothing happens in between. */
	blockSeconds?: number;
	/** The second in which the first block comes. */
	firstBlockSeconds?: number;
};

const startsAt = 1_000_000;
/** Number of blocks that can still be dropped. There is one block per second. */
const finalityBlocks = 4;
export const modelDeadlines = { open: startsAt + 75, fill: startsAt + 120, refund: startsAt + 150 };

/** Number of blocks for which a Solana transaction can land. One in four slots may have no block. */
const lifeBlocks = 15;
export const maxLifeSeconds = 20;

const pace = {
	depths: [{ upToUsd: 1_000, blocks: 1 }],
	finalitySeconds: 5,
	unreleasedCapUsd: 100_000,
	unfinalCapUsd: 50_000,
};
const chainPolicies: Record<ChainPolicy["kind"], ChainPolicy> = {
	evm: { ...pace, kind: "evm", deadAfterSeconds: 0 },
	solana: { ...pace, kind: "solana", deadAfterSeconds: maxLifeSeconds },
};

const evmOp: SignedOp = {
	delegate: "0x",
	gas: 1n,
	signatureKind: "personal",
	signature: "0x",
};
const solanaOp: SignedSolanaOp = {
	kind: "solana",
	feePayer: solanaNativeToken,
	blockhash: "",
	lastValidBlockHeight: BigInt(lifeBlocks),
	compute: { unitLimit: 1, microLamportsPerUnit: 1n },
	signature: "0x",
};

type ModelEvent = OrderEvent & { chain: "origin" | "destination" };

/** Chains, lanes, attesters and database in memory, all of them as faulty as they are allowed to be. */
export class ModelWorld {
	readonly facts: Facts;
	readonly options: ModelOptions;
	readonly policy: SwapPolicy;
	nowSeconds = startsAt;
	events: ModelEvent[] = [];
	isEnded = false;
	private transactions = 0;
	/** Second until which no transaction gets into a block of a Solana chain. */
	private crowdedUntil = 0;
	/** Block height in each second since the start. */
	private readonly heights = [0];
	/** The last heights on Solana at which transactions signed for a job can land, regardless of the job's outcome. */
	private readonly lastHeights = new Map<JobKind, number>();

	constructor(options: ModelOptions) {
		this.options = options;
		this.policy = {
			origin: chainPolicies[options.origin],
			destination: chainPolicies[options.destination],
			accountShareOfCaps: 1,
			attesterThreshold: 2,
			reservationSeconds: 60,
		};
		const order = {
			...anyOrder(),
			originChainId: 1n,
			destinationChainId: options.isCrossChain ? 2n : 1n,
			deadlines: packDeadlines({
				openDeadline: BigInt(modelDeadlines.open),
				fillDeadline: BigInt(modelDeadlines.fill),
				refundAfter: BigInt(modelDeadlines.refund),
			}),
		};
		const head = {
			chainId: 1,
			number: 0,
			timestamp: 0,
			baseFee: 0n,
			finalizedNumber: 0,
			finalizedTimestamp: 0,
			finalizedHeight: 0,
			comparedTimestamp: 0,
			comparedAtMs: 0,
			unseenOrders: [],
		};
		const at = new Date(startsAt * 1_000);
		this.facts = {
			swap: {
				id: "019a0000-0000-7000-8000-000000000001",
				accountId: "account",
				orderId: "0x01",
				order,
				output: 100n,
				valueUsdCents: this.chance(0.8) ? 5_000n : 500_000n,
				feeMillibps: 0,
				skewCentibps: 0,
				networkCost: undefined,
				delivery: { kind: "inventory", amount: 100n },
				op: options.origin === "evm" ? evmOp : solanaOp,
				status: "pending",
				stage: "opening",
				failure: undefined,
				givingUp: undefined,
				originTxHash: undefined,
				deliveryTxHash: undefined,
				refundTxHash: undefined,
				deliveredAmount: undefined,
				createdAt: at,
				updatedAt: at,
				openedAt: undefined,
				deliveredAt: undefined,
				decidedAt: undefined,
				endedAt: undefined,
				trace: undefined,
			},
			origin: { ...head },
			destination: { ...head, chainId: options.isCrossChain ? 2 : 1 },
			events: {},
			jobs: {},
			isReserved: true,
			attestersAlive: 2,
		};
		this.publish();
	}

	get isHostile(): boolean {
		return this.nowSeconds - startsAt < this.options.hostileSeconds;
	}

	chance(probability: number): boolean {
		return this.options.random() < probability;
	}

	/** Lets a second pass. */
	tick(): void {
		this.passSecond();
		const { blockSeconds = 1, firstBlockSeconds = 0 } = this.options;
		if ((this.nowSeconds - startsAt - firstBlockSeconds) % blockSeconds !== 0) return;
		if (this.isHostile && this.chance(0.05)) this.reorganize("origin");
		if (this.isHostile && this.options.isCrossChain && this.chance(0.05)) this.reorganize("destination");
		if (this.isHostile && this.chance(0.05)) this.facts.attestersAlive = this.chance(0.5) ? 0 : 2;
		if (!this.isHostile) this.facts.attestersAlive = 2;
		if (this.isHostile && this.chance(0.02)) this.crowdedUntil = this.nowSeconds + 60 * this.options.random();
		for (const job of Object.values(this.facts.jobs)) this.work(job as Job);
		// Anyone may send these transactions.
		if (this.isHostile && this.chance(0.02)) this.land("open");
		if (this.isHostile && this.chance(0.01)) this.land("refund", { attested: false, isStrangers: true });
		this.publish();
	}

	/** Lands everything that was signed on Solana and can still land, though no lane sends it any more. */
	landLeftovers(): void {
		for (let second = 0; second < 3 * maxLifeSeconds; second++) {
			this.passSecond();
			for (const kind of this.lastHeights.keys()) if (this.isAlive(kind)) this.land(kind);
		}
	}

	private passSecond(): void {
		this.nowSeconds++;
		const height = this.heights.at(-1) ?? 0;
		const isRecent = this.heights.at(-4) !== height - 3;
		this.heights.push(this.isHostile && !isRecent && this.chance(0.3) ? height : height + 1);
	}

	apply(decision: Decision): void {
		const { swap, jobs } = this.facts;
		// The decision is not applied if there is no room at the cap.
		const isCapped = decision.actions.some((action) => action.do === "queue" && "caps" in action);
		if (isCapped && this.isHostile && this.chance(0.3)) return;
		// A lane may have been faster than the decision.
		for (const job of Object.values(jobs)) {
			if (job.state === "queued" && this.isHostile && this.chance(0.2)) this.sign(job as Job);
		}
		for (const action of decision.actions) {
			if (action.do === "advance") this.advance(action.path);
			else if (action.do === "note") {
				for (const [field, value] of Object.entries(action.notes)) {
					Object.assign(swap, { [field]: value ?? undefined });
				}
			} else if (action.do === "give-up") swap.givingUp ??= action.code;
			else if (action.do === "unreserve") this.facts.isReserved = false;
			else if (action.do === "reserve") {
				if (this.isHostile && this.chance(0.3)) swap.givingUp ??= "NO_LIQUIDITY";
				else this.facts.isReserved = true;
			} else if (action.do === "withdraw") {
				if (jobs[action.kind]?.state === "queued") delete jobs[action.kind];
			} else {
				const before = jobs[action.kind];
				if (before && !(action.again && ["done", "refused", "unattested"].includes(before.state))) continue;
				const isAttested = "attested" in action && action.attested;
				Object.assign(jobs, {
					[action.kind]: {
						kind: action.kind,
						state: isAttested ? "unattested" : "queued",
						payload: "attested" in action ? { attested: action.attested } : {},
					},
				});
			}
		}
		this.isEnded = decision.isEnd;
	}

	has(name: OrderEventName): boolean {
		return this.events.some((event) => event.name === name);
	}

	isFinal(name: OrderEventName): boolean {
		const event = this.events.find((candidate) => candidate.name === name);
		return event !== undefined && event.blockNumber <= this.nowSeconds - finalityBlocks;
	}

	private advance(path: (typeof this.facts.swap.stage | SwapStatus)[]): void {
		const { swap } = this.facts;
		for (const to of path) {
			if (to === "pending" || isTerminal(swap.status) || !canMove(swap.stage, to)) {
				throw new Error(`${swap.status}, ${swap.stage} cannot go ${path.join(", ")}`);
			}
			if (to === "settled" || to === "failed" || to === "refunded") swap.status = to;
			else swap.stage = to;
		}
	}

	/** Does what lanes, attesters and the follower do about a job. */
	private work(job: Job): void {
		const pace = this.isHostile ? 0.4 : 1;
		if (!this.chance(pace)) return;
		if (job.state === "unattested") {
			const isTrue = job.kind === "release" ? this.isFinal("Filled") : this.isClosed();
			if (isTrue && this.facts.attestersAlive >= 2) job.state = "queued";
		} else if (job.state === "queued") {
			const reason = this.reasonToRefuse(job);
			if (reason) Object.assign(job, { state: "refused", reason });
			else this.sign(job);
		} else if (job.state === "sent" && this.kindOf(job.kind) !== "evm") {
			// The lane neither signs again nor gives up before the transaction can no longer land.
			const canLand = this.isAlive(job.kind) && this.nowSeconds >= this.crowdedUntil;
			if (canLand && this.land(job.kind, { attested: this.isAttested(job) })) job.state = "done";
			else if (this.isDead(job.kind)) {
				if (job.kind === "open") Object.assign(job, { state: "refused", reason: "expired" });
				else job.state = "queued";
			}
		} else if (job.state === "sent") {
			if (this.land(job.kind, { attested: this.isAttested(job) })) job.state = "done";
			else job.state = "queued";
		}
	}

	private isAttested(job: Job): boolean {
		return job.kind === "refund" ? job.payload.attested : this.options.isCrossChain;
	}

	private sign(job: Job): void {
		job.state = "sent";
		if (this.kindOf(job.kind) === "evm") return;
		const height = this.heights.at(-1) ?? 0;
		this.lastHeights.set(job.kind, job.kind === "open" ? lifeBlocks : height + lifeBlocks);
	}

	private kindOf(kind: JobKind): ChainPolicy["kind"] {
		return kind === "fill" || kind === "void" ? this.options.destination : this.options.origin;
	}

	private isAlive(kind: JobKind): boolean {
		return (this.heights.at(-1) ?? 0) <= (this.lastHeights.get(kind) ?? 0);
	}

	private isDead(kind: JobKind): boolean {
		return this.finalizedHeight > (this.lastHeights.get(kind) ?? 0);
	}

	get finalizedHeight(): number {
		return this.heights.at(-1 - finalityBlocks) ?? 0;
	}

	private reasonToRefuse({ kind }: Job): JobReason | undefined {
		if (kind === "fill" && this.isHostile && this.chance(0.1)) return "price";
		if (kind === "open" && this.isHostile && this.chance(0.05)) return "reverted";
		if (kind === "fill" && this.nowSeconds >= modelDeadlines.fill - pace.finalitySeconds) return "too_late";
		if (kind !== "open") return undefined;
		const isLate =
			this.options.origin !== "evm"
				? (this.heights.at(-1) ?? 0) > lifeBlocks
				: this.nowSeconds > modelDeadlines.open;
		return isLate ? "expired" : undefined;
	}

	private isClosed(): boolean {
		if (this.has("Filled")) return false;
		if (this.isFinal("Voided")) return true;
		return this.nowSeconds - finalityBlocks >= modelDeadlines.fill;
	}

	/** Lands a transaction as the contracts and the Solana program would. */
	private land(
		kind: JobKind,
		{ attested, isStrangers = false }: { attested: boolean; isStrangers?: boolean } = { attested: false },
	): boolean {
		const { isCrossChain } = this.options;
		const isOpen = this.has("Opened") && !this.has("Released") && !this.has("Refunded");
		const isUndecided = !this.has("Filled") && !this.has("Voided");
		if (kind === "open") {
			return (
				!this.has("Opened") && this.nowSeconds <= modelDeadlines.open && this.emit("Opened", "origin", {})
			);
		}
		if (kind === "void") return isUndecided && this.emit("Voided", "destination", {});
		if (kind === "fill") {
			if (!isUndecided || this.nowSeconds >= modelDeadlines.fill || (!isCrossChain && !isOpen)) return false;
			if (!isCrossChain) this.emit("Released", "origin", { paid: true });
			return this.emit("Filled", "destination", { delivered: 100n, spentToken: "0x", spent: 100n });
		}
		if (!isOpen) return false;
		if (kind === "release") return this.emit("Released", "origin", { paid: true });
		// The operator refunds within Solana at any time.
		const isByOperator = !isCrossChain && this.options.origin === "solana" && !isStrangers;
		const isClosedHere =
			isByOperator ||
			(!isCrossChain &&
				!this.has("Filled") &&
				(this.has("Voided") || this.nowSeconds >= modelDeadlines.fill));
		if (!attested && !isClosedHere && this.nowSeconds < modelDeadlines.refund) return false;
		return this.emit("Refunded", "origin", { paid: true });
	}

	/** Signs for a job as another holder of the keys would, or a lane after a restore. */
	signForgotten(kind: "fill" | "refund"): void {
		this.lastHeights.set(kind, (this.heights.at(-1) ?? 0) + lifeBlocks);
		if (this.chance(0.5)) this.land(kind);
	}

	private emit(name: OrderEventName, chain: ModelEvent["chain"], data: object): true {
		const transactionHash = `0x${(++this.transactions).toString(16)}`;
		const place = { blockNumber: this.nowSeconds, blockHash: transactionHash, transactionHash };
		this.events.push({ name, chain, ...place, data } as ModelEvent);
		return true;
	}

	/** Drops unfinal blocks. Their transactions may immediately come back in another block. */
	private reorganize(chain: ModelEvent["chain"]): void {
		const from = this.nowSeconds - Math.floor(this.options.random() * finalityBlocks);
		const isDropped = (event: ModelEvent) =>
			event.blockNumber >= from && (event.chain === chain || !this.options.isCrossChain);
		const kindOf: Record<OrderEventName, JobKind> = {
			Opened: "open",
			Filled: "fill",
			Voided: "void",
			Released: "release",
			Refunded: "refund",
		};
		for (const { name } of this.events.filter(isDropped)) {
			const job = this.facts.jobs[kindOf[name]];
			if (job?.state !== "done") continue;
			job.state = this.kindOf(kindOf[name]) !== "evm" || this.chance(0.5) ? "sent" : "queued";
		}
		this.events = this.events.filter((event) => !isDropped(event));
	}

	private publish(): void {
		const { facts, nowSeconds } = this;
		for (const head of [facts.origin, facts.destination]) {
			head.number = nowSeconds;
			head.timestamp = nowSeconds;
			head.finalizedNumber = nowSeconds - finalityBlocks;
			head.finalizedTimestamp = nowSeconds - finalityBlocks;
			head.finalizedHeight = this.finalizedHeight;
			head.comparedTimestamp = head.finalizedTimestamp;
			head.comparedAtMs = nowSeconds * 1_000;
		}
		facts.events = Object.fromEntries(this.events.map((event) => [event.name, event]));
	}
}
