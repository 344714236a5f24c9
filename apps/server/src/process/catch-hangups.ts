/**
 * Keeps SIGHUP from ending the process, from now on. Signals that come before there is a listener are given to it as
 * one: the configuration may have changed after it was read.
 */
export function catchHangups(): { listen: (listener: () => void) => void } {
	let isMissed = false;
	let heard = () => {
		isMissed = true;
	};
	process.on("SIGHUP", () => heard());
	return {
		listen(listener) {
			heard = listener;
			if (isMissed) listener();
		},
	};
}
