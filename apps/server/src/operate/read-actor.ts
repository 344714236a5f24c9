import { userInfo } from "node:os";
import { checkName } from "./check-name.ts";

/** Who is to stand in the history beside a change: whoever is named, else the user of this machine. */
export function readActor(actor: string | undefined): string {
	return checkName("--actor", actor ?? userName());
}

function userName(): string {
	try {
		return userInfo().username;
	} catch {
		// In a container the user often has a number only.
		return `uid ${process.getuid?.() ?? "unknown"}`;
	}
}
