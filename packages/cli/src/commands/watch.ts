import type { Call } from "../context.ts";
import type { ExitCode } from "../exit-code.ts";
import { showSwap } from "./status.ts";

/** Shows each change of a swap as it happens, until the swap has ended. */
export async function watchCommand(call: Call, { id }: { id: string }): Promise<ExitCode> {
	const { followSwap } = await import("../follow-swap.ts");
	return showSwap(call, { id, ask: followSwap });
}
