import { canMove, isTerminal, packDeadlines, type SwapStatus } from "@geoswap/protocol";
import { anyOrder } from "../../../packages/protocol/vectors/read-vectors.ts";
import type { Facts, OrderEvent, OrderEventName } from "../src/store/facts.ts";
import type { Job, JobKind, JobReason } from "../src/store/job.ts";
import type { Decision } from "../src/swap/decision.ts";
import type { ChainPolicy, SwapPolicy } from "../src/swap/swap-policy.ts";

export type ModelOptions = {
	isCrossChain: boolean;
	/** Between zero and one, the next number of a sequence. */
	random: () => number;
	/** Until this second of its life the world is hostile; then it only does what it must. */
	hostileSeconds: number;
};

const startsAt = 1_000_000;
/** Blocks that can still be dropped. One comes each second. */
const finalityBlocks = 4;
export const modelDeadlines = { open: startsAt + 75, fill: startsAt + 120, refund: startsAt + 150 };

const chainPolicy: ChainPolicy = {
	kind: "evm",
	depths: [{ upToUsd: 1_000, blocks: 1 }],
	finalitySeconds: 5,
	unreleasedCapUsd: 100_000,
	unfinalCapUsd: 50_000,
};
export const modelPolicy: SwapPolicy = {
	origin: chainPolicy,
	destination: chainPolicy,
	attesterThreshold: 2,
	reservationSeconds: 60,
};

type ModelEvent = OrderEvent & { chain: "origin" | "destination" };

/** Chains, lanes, attesters and store in memory, all of them as bad as they are allowed to be. */
export class ModelWorld {
	readonly facts: Facts;
	readonly options: ModelOptions;
	nowSeconds = startsAt;
	events: ModelEvent[] = [];
	isEnded = false;
	private transactions = 0;

	constructor(options: ModelOptions) {
		this.options = options;
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
		};
		const at = new Date(startsAt * 1_000);
		this.facts = {
			swap: {
				id: "swap",
				accountId: "account",
				orderId: "0x01",
				order,
				output: 100n,
				valueUsdCents: this.chance(0.8) ? 5_000n : 500_000n,
				feeCentibps: 0,
				delivery: { kind: "stock", amount: 100n },
				op: {
					delegate: "0x",
					allowance: 0n,
					gas: { verificationGasLimit: 1n, callGasLimit: 1n },
					signature: "0x",
				},
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
				endedAt: undefined,
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

	/** A second passes. */
	tick(): void {
		this.nowSeconds++;
		if (this.isHostile && this.chance(0.05)) this.reorganize("origin");
		if (this.isHostile && this.options.isCrossChain && this.chance(0.05)) this.reorganize("destination");
		if (this.isHostile && this.chance(0.05)) this.facts.attestersAlive = this.chance(0.5) ? 0 : 2;
		if (!this.isHostile) this.facts.attestersAlive = 2;
		for (const job of Object.values(this.facts.jobs)) this.work(job);
		// Anyone may do these.
		if (this.isHostile && this.chance(0.02)) this.land("open");
		if (this.isHostile && this.chance(0.01)) this.land("refund", { attested: false });
		this.publish();
	}

	apply(decision: Decision): void {
		const { swap, jobs } = this.facts;
		// There is no room at the cap.
		const isCapped = decision.actions.some((action) => action.do === "queue" && "caps" in action);
		if (isCapped && this.isHostile && this.chance(0.3)) return;
		// A lane was faster than the decision.
		for (const job of Object.values(jobs)) {
			if (job.state === "queued" && this.isHostile && this.chance(0.2)) job.state = "sent";
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
				const isAttested = action.kind === "release" || (action.kind === "refund" && action.attested);
				Object.assign(jobs, {
					[action.kind]: {
						kind: action.kind,
						state: isAttested ? "unattested" : "queued",
						payload: action.kind === "refund" ? { attested: action.attested } : {},
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

	/** What lanes, attesters and the follower do about a job. */
	private work(job: Job): void {
		const { isCrossChain } = this.options;
		const pace = this.isHostile ? 0.4 : 1;
		if (!this.chance(pace)) return;
		if (job.state === "unattested") {
			const isTrue = job.kind === "release" ? this.isFinal("Filled") : this.isClosed();
			if (isTrue && this.facts.attestersAlive >= 2) job.state = "queued";
		} else if (job.state === "queued") {
			const reason = this.reasonToRefuse(job);
			if (reason) Object.assign(job, { state: "refused", reason });
			else job.state = "sent";
		} else if (job.state === "sent") {
			const attested = job.kind === "refund" ? job.payload.attested : isCrossChain;
			if (this.land(job.kind, { attested })) job.state = "done";
			else job.state = "queued";
		}
	}

	private reasonToRefuse({ kind }: Job): JobReason | undefined {
		if (kind === "fill" && this.isHostile && this.chance(0.1)) return "price";
		if (kind === "open" && this.isHostile && this.chance(0.05)) return "reverted";
		if (kind === "fill" && this.nowSeconds >= modelDeadlines.fill - 5) return "too_late";
		return kind === "open" && this.nowSeconds > modelDeadlines.open ? "expired" : undefined;
	}

	private isClosed(): boolean {
		if (this.has("Filled")) return false;
		return this.isFinal("Voided") || this.nowSeconds - finalityBlocks >= modelDeadlines.fill;
	}

	/** As the contracts would. */
	private land(kind: JobKind, { attested } = { attested: false }): boolean {
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
		const isClosedHere =
			!isCrossChain && !this.has("Filled") && (this.has("Voided") || this.nowSeconds >= modelDeadlines.fill);
		if (!attested && !isClosedHere && this.nowSeconds < modelDeadlines.refund) return false;
		return this.emit("Refunded", "origin", { paid: true });
	}

	private emit(name: OrderEventName, chain: ModelEvent["chain"], data: object): true {
		const transactionHash = `0x${(++this.transactions).toString(16)}`;
		this.events.push({ name, chain, blockNumber: this.nowSeconds, transactionHash, data } as ModelEvent);
		return true;
	}

	/** Drops blocks that are not final; what they held may come back at once in another block. */
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
			if (job?.state === "done") job.state = this.chance(0.5) ? "sent" : "queued";
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
		}
		facts.events = Object.fromEntries(this.events.map((event) => [event.name, event]));
	}
}
