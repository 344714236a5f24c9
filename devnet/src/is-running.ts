/** Whether there is such a process. */
export function isRunning(pid: number): boolean {
	try {
		// Signal 0 only asks.
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// It is there, and someone else's.
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}
