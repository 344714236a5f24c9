/** Runs what is scheduled in the order of its second, and of its scheduling within a second. */
export type WorldClock = {
	now: () => number;
	at: (second: number, run: () => void) => void;
	runUntil: (second: number) => void;
};

type Scheduled = { second: number; turn: number; run: () => void };

export function createWorldClock(): WorldClock {
	const heap: Scheduled[] = [];
	let now = 0;
	let turn = 0;
	return { now: () => now, at, runUntil };

	function at(second: number, run: () => void): void {
		const one = { second: Math.max(now, second), turn: turn++, run };
		let i = heap.push(one) - 1;
		while (i > 0) {
			const parent = (i - 1) >> 1;
			if (!isBefore(one, heap[parent])) break;
			heap[i] = heap[parent] as Scheduled;
			i = parent;
		}
		heap[i] = one;
	}

	function runUntil(second: number): void {
		for (let first = heap[0]; first && first.second <= second; first = heap[0]) {
			removeFirst();
			now = first.second;
			first.run();
		}
		now = second;
	}

	function removeFirst(): void {
		const last = heap.pop();
		if (!last || heap.length === 0) return;
		let i = 0;
		for (;;) {
			let child = 2 * i + 1;
			if (child >= heap.length) break;
			if (isBefore(heap[child + 1], heap[child])) child++;
			if (!isBefore(heap[child], last)) break;
			heap[i] = heap[child] as Scheduled;
			i = child;
		}
		heap[i] = last;
	}
}

function isBefore(one: Scheduled | undefined, other: Scheduled | undefined): boolean {
	if (!one) return false;
	if (!other) return true;
	return one.second < other.second || (one.second === other.second && one.turn < other.turn);
}
