"""The joint problem of all classes of Weston & Watkins."""
