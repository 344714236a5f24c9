import type { Context } from "./context.ts";
import { describeError } from "./describe-error.ts";

/**
 * Opens the swap's page in the browser and returns its address, which it also prints. If there is no page, this is
 * reported and does not affect the swap.
 */
export async function openPage(
	{ client, io, output, signal }: Pick<Context, "client" | "io" | "output" | "signal">,
	swapId: string,
): Promise<string | undefined> {
	try {
		const { shareSwap } = await import("@geoswap/sdk/share");
		const { url } = await shareSwap(client, swapId, { signal });
		const isOpen = await io.openUrl(url);
		output.say(["page", url]);
		if (!isOpen) output.say(["", "no browser could be opened; open the address yourself"]);
		return url;
	} catch (error) {
		const { body } = await describeError(error);
		output.say(["page", `there is none: ${body.message}`], "yellow");
		return undefined;
	}
}
