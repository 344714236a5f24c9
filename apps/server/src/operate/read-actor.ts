import { userInfo } from "node:os";
import { checkName } from "./check-name.ts";

/** Returns the name to record with a change in the history: the given one, or else the user of this machine. */
export function readActor(actor: string | undefined): string {
	return checkName("--actor", actor ?? userName());
}

function userName(): string {
	try {
		return userInfo().username;
	} catch {
		// In a container the user often has only a number.
		return `uid ${process.getuid?.() ?? "unknown"}`;
	}
}
