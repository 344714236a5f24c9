/**
 * The only clock of a simulated world. Everything that takes time is an event in one queue; one event runs at a time,
 * until all that follows from it waits for another. So the same seed gives the same run, however the machine is loaded.
 */
export type Scheduler = {
	/** The world's time. A process may have a clock that is off by some. */
	nowMs: () => number;
	/** Runs it in so many milliseconds of the world, after whatever is due by then already. */
	in: (ms: number, name: string, run: () => unknown) => Timer;
	sleep: (ms: number, name: string) => Promise<void>;
	/** Runs events until the condition holds after one of them, or until the time. Says whether it holds. */
	runUntil: (isDone: () => boolean, untilMs: number) => Promise<boolean>;
	/** Work outside of the world, such as a query or a signature: the clock stands while it lasts. */
	during: <T>(work: Promise<T>) => Promise<T>;
};

type Timer = { cancel: () => void };

type Event = { atMs: number; order: number; name: string; run: () => unknown };

export function createScheduler({
	startMs,
	onEvent,
}: {
	startMs: number;
	/** Told of every event before it runs. */
	onEvent?: (event: { atMs: number; name: string }) => void;
}): Scheduler {
	const queue = new EventQueue();
	let nowMs = startMs;
	let order = 0;
	let outside = 0;
	/** Of events that nobody else listens to. */
	const failures: unknown[] = [];
	let allIn: (() => void) | undefined;

	const scheduleIn = (ms: number, name: string, run: () => unknown): Timer => {
		const event: Event = { atMs: nowMs + Math.max(0, ms), order: order++, name, run };
		queue.push(event);
		return { cancel: () => queue.remove(event) };
	};

	/** Promises' callbacks all run before the next immediate; what is outside is waited for. */
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
				// What it begins may need later events to end: it is not waited for.
				const ran = event.run();
				if (ran instanceof Promise) ran.catch((error: unknown) => failures.push(error));
				await settle();
				if (failures.length > 0) throw failures[0];
			}
			return true;
		},
	};
}

/** A binary heap: by time, and of one time in the order in which they were asked for. */
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
