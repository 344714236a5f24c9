import { watch } from "node:fs";
import type { ServiceProcess } from "./service-process.ts";

/** An editor writes several files, and each of them more than once. */
const quietMs = 300;

/**
 * Restarts processes once the source files in these folders have changed and then stayed the same for a moment. A
 * change during a restart causes another one. A process that does not start is logged, and tried again at the next
 * change.
 */
export function restartOnChange({
	folders,
	processes,
	say,
}: {
	folders: readonly string[];
	processes: readonly ServiceProcess[];
	say: (line: string) => void;
}): { close: () => void } {
	let timer: NodeJS.Timeout | undefined;
	let restarting: Promise<void> | undefined;
	let isClosed = false;

	async function restart(file: string): Promise<void> {
		const startedAt = performance.now();
		await Promise.all(processes.map((one) => one.stop()));
		if (isClosed) return;
		const starts = await Promise.allSettled(processes.map((one) => one.start()));
		const problems = starts.flatMap((one) =>
			one.status === "rejected" ? [(one.reason as Error).message] : [],
		);
		if (isClosed) return;
		for (const problem of problems) say(problem);
		const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
		if (problems.length === 0)
			say(`${file} changed: ${processes.length} processes restarted in ${seconds} s`);
	}

	const changed = (file: string) => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			const before = restarting ?? Promise.resolve();
			restarting = before.then(() => (isClosed ? undefined : restart(file)));
		}, quietMs);
	};
	const watchers = folders.map((folder) =>
		watch(folder, { recursive: true }, (_, file) => {
			if (file && /\.(ts|sql)$/.test(file) && !file.endsWith(".test.ts")) changed(file);
		}),
	);
	return {
		close: () => {
			isClosed = true;
			clearTimeout(timer);
			for (const watcher of watchers) watcher.close();
		},
	};
}
