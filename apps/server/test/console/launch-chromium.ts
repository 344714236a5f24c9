import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Starts the browser that `bash .ci/run setup` installs. */
export async function launchChromium(): Promise<Browser> {
	if (!existsSync(executablePath)) {
		throw new Error(
			`There is no Chromium at ${executablePath}. Run \`bash .ci/run setup\`, or set CHROMIUM to where it is.`,
		);
	}
	return chromium.launch({
		executablePath,
		args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
	});
}
