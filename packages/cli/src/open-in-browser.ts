import { spawn } from "node:child_process";

/** The program of each system that opens an address in the user's browser. None of them is a shell. */
const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
	darwin: ["open"],
	win32: ["rundll32", "url.dll,FileProtocolHandler"],
	linux: ["xdg-open"],
};

/** Opens a web address in the browser. Resolves to false if no browser can be started. */
export function openInBrowser(
	url: string,
	{ platform, env }: { platform: NodeJS.Platform; env: Record<string, string | undefined> },
): Promise<boolean> {
	const [program, ...args] = openers[platform] ?? [];
	// Without a screen, xdg-open would start a browser in this terminal.
	const hasScreen = platform !== "linux" || Boolean(env.DISPLAY ?? env.WAYLAND_DISPLAY);
	if (program === undefined || !hasScreen) return Promise.resolve(false);
	return new Promise((resolve) => {
		const child = spawn(program, [...args, new URL(url).href], { stdio: "ignore", detached: true, env });
		child.once("error", () => resolve(false));
		child.once("spawn", () => {
			child.unref();
			resolve(true);
		});
	});
}
