// Says how the live map is doing, every second.
const state = document.getElementById("state");
const events = new EventSource("/api/events");
events.addEventListener("health", (event) => {
  const health = JSON.parse(event.data);
  state.textContent = `${health.points} points, ${health.outliers} of them outliers.`;
});
events.onerror = () => {
  state.textContent = "The connection is lost; it will be tried again.";
};
