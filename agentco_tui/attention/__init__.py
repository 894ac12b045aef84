"""What needs the user's attention, why, and in which order; snoozes and notifications of it."""
