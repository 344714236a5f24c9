/**
 * The only clock of a simulated world. Everything that takes time is an event in one queue. One event runs at a time,
 * until everything it started waits for another event. So the same seed gives the same run, regardless of the machine's
 * load.
 */
export type Scheduler = {
	/** The world's time. The clock of a process may be off. */
	nowMs: () => number;
	/** Runs a function after this many simulated milliseconds, behind all events that are already due by then. */
	in: (ms: number, name: string, run: () => unknown) => Timer;
	sleep: (ms: number, name: string) => Promise<void>;
	/** Runs events until the condition holds after one of them, or until the given time. Returns whether it holds. */
	runUntil: (isDone: () => boolean, untilMs: number) => Promise<boolean>;
	/** Waits for work outside of the world, such as a query or a signature. The clock stands still meanwhile. */
	during: <T>(work: Promise<T>) => Promise<T>;
};

type Timer = { cancel: () => void };

type Event = { atMs: number; order: number; name: string; run: () => unknown };

export function createScheduler({
	startMs,
	onEvent,
}: {
	startMs: number;
	/** Called with every event before it runs. */
	onEvent?: (event: { atMs: number; name: string }) => void;
}): Scheduler {
	const queue = new EventQueue();
	let nowMs = startMs;
	let order = 0;
	let outside = 0;
	/** Unhandled errors of events. */
	const failures: unknown[] = [];
	let allIn: (() => void) | undefined;

	const scheduleIn = (ms: number, name: string, run: () => unknown): Timer => {
		const event: Event = { atMs: nowMs + Math.max(0, ms), order: order++, name, run };
		queue.push(event);
		return { cancel: () => queue.remove(event) };
	};

	/** Waits for all callbacks of promises, which run before the next immediate, and for the work outside. */
	const settle = async () => {
		await new Promise((resolve) => setImmediate(resolve));
		while (outside > 0) {
			await new Promise<void>((resolve) => {
				allIn = resolve;
			});
			await new Promise((resolve) => setImmediate(resolve));
		}
	};

	return {
		nowMs: () => nowMs,
		in: scheduleIn,
		sleep: (ms, name) => new Promise<void>((resolve) => scheduleIn(ms, name, resolve)),
		during: async (work) => {
			outside++;
			try {
				return await work;
			} finally {
				if (--outside === 0) allIn?.();
			}
		},
		runUntil: async (isDone, untilMs) => {
			await settle();
			while (!isDone()) {
				const event = queue.peek();
				if (!event || event.atMs > untilMs) {
					nowMs = Math.max(nowMs, untilMs);
					return false;
				}
				queue.pop();
				nowMs = event.atMs;
				onEvent?.(event);
				// The event is not awaited, because what it starts may need later events to end.
				const ran = event.run();
				if (ran instanceof Promise) ran.catch((error: unknown) => failures.push(error));
				await settle();
				if (failures.length > 0) throw failures[0];
			}
			return true;
		},
	};
}

/** A binary heap of events, ordered by time. Events of the same time keep the order in which they were scheduled. */
class EventQueue {
	private readonly heap: Event[] = [];
	private readonly removed = new Set<Event>();

	push(event: Event): void {
		const { heap } = this;
		heap.push(event);
		for (let at = heap.length - 1; at > 0; ) {
			const parent = (at - 1) >> 1;
			if (!this.swapIfBefore(at, parent)) break;
			at = parent;
		}
	}

	peek(): Event | undefined {
		while (this.heap[0] && this.removed.delete(this.heap[0])) this.dropFirst();
		return this.heap[0];
	}

	pop(): Event | undefined {
		const first = this.peek();
		if (first) this.dropFirst();
		return first;
	}

	remove(event: Event): void {
		if (this.heap.includes(event)) this.removed.add(event);
	}

	private dropFirst(): void {
		const { heap } = this;
		const last = heap.pop();
		if (!last || heap.length === 0) return;
		heap[0] = last;
		for (let at = 0; ; ) {
			const left = 2 * at + 1;
			const child = left + 1 < heap.length && this.isBefore(left + 1, left) ? left + 1 : left;
			if (child >= heap.length || !this.swapIfBefore(child, at)) return;
			at = child;
		}
	}

	private isBefore(a: number, b: number): boolean {
		const [one, other] = [this.heap[a], this.heap[b]];
		if (!one || !other) return false;
		return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
	}

	private swapIfBefore(a: number, b: number): boolean {
		if (!this.isBefore(a, b)) return false;
		const [one, other] = [this.heap[a] as Event, this.heap[b] as Event];
		this.heap[a] = other;
		this.heap[b] = one;
		return true;
	}
}
